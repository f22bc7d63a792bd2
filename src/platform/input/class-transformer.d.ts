// The one place where the package keeps what its decorators said; Nest's mapped types read it as well. It has no types there.
declare module 'class-transformer/cjs/storage' {
  import type { MetadataStorage } from 'class-transformer/types/MetadataStorage';

  export const defaultMetadataStorage: MetadataStorage;
}
