export const VERSIONS = [1, 2] as const;
export type Version = (typeof VERSIONS)[number];

/**
 * The release of each version of the API, as its document tells it. The first number is the version in the path. An
 * addition raises the second number, once for each release: `npm run openapi:changes` says when. A breaking change
 * needs a new version.
 */
export const RELEASES: Record<Version, string> = { 1: '1.0.0', 2: '2.0.0' };

/** A form in which the service can send an answer. */
export interface Representation {
  version: Version;
  /** The media type as it is sent. */
  mediaType: string;
  /** Distinguishes the entity tags of this media type from those of another one in the same version. */
  variant: string;
  /** True for XML, which is made of the JSON when the answer is sent. */
  isXml?: true;
}
