/** The least allocation in bytes. */
const LEAST = 1024;

/**
 * Collects bytes that arrive in pieces, in at most twice their memory. An array of small pieces would take hundreds of
 * bytes for each piece.
 */
export class GrowingBuffer {
  /** Bytes that have arrived. */
  size = 0;
  private bytes?: Buffer;

  add(piece: Buffer): void {
    const { size } = this;
    this.size += piece.length;
    // Most bodies consist of one piece.
    if (!this.bytes) this.bytes = piece;
    else {
      if (this.size > this.bytes.length) this.grow(size);
      piece.copy(this.bytes, size);
    }
  }

  whole(): Buffer {
    return this.bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  private grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(LEAST, 2 * this.size));
    this.bytes!.copy(larger, 0, 0, size);
    this.bytes = larger;
  }
}
