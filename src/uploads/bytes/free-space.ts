import { mkdir, statfs } from 'node:fs/promises';
import { ApiError, mebibytes } from '../../platform';
import { PRIVATE_DIRECTORY } from './private-directory';

const FULL = ['ENOSPC', 'EDQUOT'];
/** The number of bytes after which a writer checks the disk again, as others fill it too. */
const STEP_BYTES = mebibytes(8);

/** The free space on the disk of a directory above a floor, shared by independent writers. */
export class FreeSpace {
  /** Bytes that were granted to writers and are not written yet. */
  private granted = 0;

  /** @param floor bytes that must stay free */
  constructor(
    private readonly directory: string,
    private readonly floor: number,
  ) {}

  /**
   * Creates the directory if needed. @throws {ApiError} INSUFFICIENT_STORAGE when less than the floor would stay free
   */
  async require(bytes: number): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    await this.look(bytes);
  }

  /** Passes bytes on while there is room for them. @param most the greatest number of bytes that will arrive */
  async *guard(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
    let own = 0;
    let coming = most;
    try {
      for await (const chunk of chunks) {
        if (own < chunk.length) {
          const more = Math.max(Math.min(STEP_BYTES, coming), chunk.length) - own;
          await this.look(more, () => (this.granted += more));
          own += more;
        }
        yield chunk;
        own -= chunk.length;
        coming -= chunk.length;
        this.granted -= chunk.length;
      }
    } finally {
      this.granted -= own;
    }
  }

  /** @param onRoom called synchronously with the check, before another writer can take the same space */
  private async look(bytes: number, onRoom?: () => void): Promise<void> {
    // Bytes that are written during the system call may count twice, but are never missed.
    const before = this.granted;
    const { bavail, bsize } = await statfs(this.directory);
    const free = bavail * bsize - Math.max(before, this.granted);
    if (free - bytes < this.floor) throw new ApiError('INSUFFICIENT_STORAGE');
    onRoom?.();
  }
}

/** Maps ENOSPC and EDQUOT to INSUFFICIENT_STORAGE: the disk or the quota of the service's user is full. */
export function asStorageError(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return FULL.includes(code) ? new ApiError('INSUFFICIENT_STORAGE', { cause: error }) : error;
}
