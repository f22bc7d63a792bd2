import { mkdir, statfs } from 'node:fs/promises';
import { ApiError } from '../../platform';
import { PRIVATE_DIRECTORY } from './private-directory';

const FULL = ['ENOSPC', 'EDQUOT'];
/** After how many bytes a writer asks anew: others fill the disk too. */
const STEP = 8 * 1024 * 1024;

/** What is free on the disk of a directory above a floor, for writers that know nothing of each other. */
export class FreeSpace {
  /** Bytes that were granted to writers and are not written yet. */
  private granted = 0;

  /** @param floor bytes that must stay free */
  constructor(
    private readonly directory: string,
    private readonly floor: number,
  ) {}

  /** Makes the directory if need be. @throws {ApiError} INSUFFICIENT_STORAGE when less than the floor would stay free */
  async require(bytes: number): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    await this.look(bytes);
  }

  /** Lets bytes pass on to the disk while there is room for them. @param most so many will come at most */
  async *guard(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
    let own = 0;
    let coming = most;
    try {
      for await (const chunk of chunks) {
        if (own < chunk.length) {
          const more = Math.max(Math.min(STEP, coming), chunk.length) - own;
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

  /** @param onRoom called before anybody else finds the same room */
  private async look(bytes: number, onRoom?: () => void): Promise<void> {
    // What is written while the system counts is on either side, never on none.
    const before = this.granted;
    const { bavail, bsize } = await statfs(this.directory);
    const free = bavail * bsize - Math.max(before, this.granted);
    if (free - bytes < this.floor) throw new ApiError('INSUFFICIENT_STORAGE');
    onRoom?.();
  }
}

/** Maps ENOSPC and EDQUOT to INSUFFICIENT_STORAGE: the disk or the quota of the service's user is full. */
export function orFull(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return FULL.includes(code) ? new ApiError('INSUFFICIENT_STORAGE', { cause: error }) : error;
}
