export const VERSIONS = [1, 2] as const;
export type Version = (typeof VERSIONS)[number];

/** One way in which the service can put an answer. */
export interface Representation {
  version: Version;
  /** The media type as it is sent. */
  mediaType: string;
  /** Distinguishes its entity tags from those of the same version in another media type. */
  variant: string;
}
