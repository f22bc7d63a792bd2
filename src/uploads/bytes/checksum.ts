import type { IHasher } from 'hash-wasm';

/** Shared, because each hasher has its own WebAssembly memory, which takes longer to create than a chunk to hash. */
let shared: Promise<IHasher> | undefined;

/**
 * SHA-256 of bytes that arrive over time, even in several processes. Its state can be saved, unlike that of
 * node:crypto.
 */
export class Checksum {
  private constructor(
    private readonly hasher: IHasher,
    private current: Uint8Array,
  ) {}

  /** @param state the state after earlier bytes. Default: none */
  static async of(state?: Uint8Array | null): Promise<Checksum> {
    const hasher = await (shared ??= createHasher());
    return new Checksum(hasher, state ?? hasher.init().save());
  }

  update(chunk: Uint8Array): void {
    this.current = this.hasher.load(this.current).update(chunk).save();
  }

  /** The state to save, from which the computation can continue. */
  get state(): Buffer {
    return Buffer.from(this.current);
  }

  /** The checksum in hexadecimal digits. */
  digest(): string {
    return this.hasher.load(this.current).digest();
  }
}

/** Loads the library on demand, because it takes time at the start. */
function createHasher(): Promise<IHasher> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { createSHA256 } = require('hash-wasm') as typeof import('hash-wasm');
  return createSHA256();
}
