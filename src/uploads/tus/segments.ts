export interface SegmentLimits {
  /** The exact number of bytes after which a segment ends. */
  size: number;
  /** The time in milliseconds after which a segment ends. */
  time: number;
}

/** Divides a stream into segments, and announces the last chunk of each. */
export class Segments {
  private readonly chunks: AsyncIterator<Buffer>;
  private next: Buffer | undefined;
  /** The error that ended the stream, if there was one. */
  failure: unknown;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.chunks = bytes[Symbol.asyncIterator]();
  }

  /** Resolves to false at the end of the stream. */
  async begin(): Promise<boolean> {
    this.next ??= await this.chunk();
    return this.next !== undefined;
  }

  /**
   * @param onChunk called for each chunk
   * @param onLast called before the last chunk is yielded
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
      // An error that is thrown into the generator here belongs to the writer, not to the stream.
      yield chunk;
      if (last) return;
    }
  }

  private async chunk(): Promise<Buffer | undefined> {
    const { value, done } = (await this.chunks.next()) as IteratorResult<Buffer, undefined>;
    return done ? undefined : value;
  }
}
