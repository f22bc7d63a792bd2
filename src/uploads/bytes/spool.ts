import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { kibibytes } from '../../platform';

/** Bytes that are read at once. */
const PIECE_BYTES = kibibytes(256);

/**
 * Holds one part of an upload on the disk until its length is known, which a bucket requires in advance. In memory, the
 * parts of all uploads would take too much. The file is unlinked, so it disappears with the process, however that ends.
 */
export class Spool {
  length = 0;

  private constructor(private readonly file: FileHandle) {}

  static async open(directory: string): Promise<Spool> {
    await mkdir(directory, { recursive: true });
    const path = join(directory, `part-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return new Spool(file);
  }

  async write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, this.length + done);
      done += bytesWritten;
    }
    this.length += bytes.length;
  }

  read(): Readable {
    return Readable.from(this.pieces(), { objectMode: false });
  }

  /** Discards the content. */
  clear(): void {
    this.length = 0;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async *pieces(): AsyncGenerator<Buffer> {
    for (let position = 0; position < this.length;) {
      const size = Math.min(PIECE_BYTES, this.length - position);
      const { bytesRead, buffer } = await this.file.read(Buffer.allocUnsafe(size), 0, size, position);
      if (bytesRead === 0) throw new Error('The disk lost a part of an upload');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}
