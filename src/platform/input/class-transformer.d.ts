// The only place where the package keeps its metadata. Nest's mapped types read it as well. The package declares no
// types for it.
declare module 'class-transformer/cjs/storage' {
  import type { MetadataStorage } from 'class-transformer/types/MetadataStorage';

  export const defaultMetadataStorage: MetadataStorage;
}
