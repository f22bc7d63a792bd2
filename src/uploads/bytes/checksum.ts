import { createSHA256, type IHasher } from 'hash-wasm';

/** One for all: each has a WebAssembly memory of its own, which takes longer to make than a chunk takes to go through. */
let shared: Promise<IHasher> | undefined;

/** SHA-256 of bytes that arrive over time, maybe in several processes: its state can be kept, unlike that of node:crypto. */
export class Checksum {
  private constructor(
    private readonly hasher: IHasher,
    private current: Uint8Array,
  ) {}

  /** @param state of the bytes so far; without it there are none */
  static async of(state?: Uint8Array | null): Promise<Checksum> {
    const hasher = await (shared ??= createSHA256());
    return new Checksum(hasher, state ?? hasher.init().save());
  }

  update(chunk: Uint8Array): void {
    this.current = this.hasher.load(this.current).update(chunk).save();
  }

  /** What to keep, to go on from it. */
  get state(): Buffer {
    return Buffer.from(this.current);
  }

  /** In hexadecimal digits. */
  digest(): string {
    return this.hasher.load(this.current).digest();
  }
}
