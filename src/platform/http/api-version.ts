export const VERSIONS = [1, 2] as const;
export type Version = (typeof VERSIONS)[number];

/** A form in which the service can send an answer. */
export interface Representation {
  version: Version;
  /** The media type as it is sent. */
  mediaType: string;
  /** Distinguishes the entity tags of this media type from those of another one in the same version. */
  variant: string;
}
