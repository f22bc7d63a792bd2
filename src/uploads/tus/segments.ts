export interface SegmentLimits {
  /** Bytes after which a segment ends, exactly. */
  size: number;
  /** Milliseconds after which it ends. */
  time: number;
}

/** Divides bytes that come into segments, and tells before the last chunk of each that it is the last. */
export class Segments {
  private readonly chunks: AsyncIterator<Buffer>;
  private next: Buffer | undefined;
  /** Why the bytes ended, when they didn't end in order. */
  failure: unknown;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.chunks = bytes[Symbol.asyncIterator]();
  }

  /** Whether there is another. */
  async begin(): Promise<boolean> {
    this.next ??= await this.chunk();
    return this.next !== undefined;
  }

  /**
   * @param onChunk told of each chunk
   * @param onLast called before the last one is given away
   */
  async *segment(
    { size, time }: SegmentLimits,
    onChunk: (chunk: Buffer) => void,
    onLast: () => void,
  ): AsyncGenerator<Buffer> {
    const start = performance.now();
    let length = 0;
    for (let next = this.next; next; next = this.next) {
      const chunk = next.subarray(0, size - length);
      let last: boolean;
      try {
        length += chunk.length;
        onChunk(chunk);
        this.next = chunk.length < next.length ? next.subarray(chunk.length) : await this.chunk();
        last = !this.next || length >= size || performance.now() - start > time;
        if (last) onLast();
      } catch (error) {
        this.failure = error;
        throw error;
      }
      // What is thrown in here is the failure of who writes, not of the bytes.
      yield chunk;
      if (last) return;
    }
  }

  private async chunk(): Promise<Buffer | undefined> {
    const { value, done } = (await this.chunks.next()) as IteratorResult<Buffer, undefined>;
    return done ? undefined : value;
  }
}
