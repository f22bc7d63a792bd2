import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, open, opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileStore } from '@tus/file-store';
import { Upload as TusUpload } from '@tus/server';
import { type ByteRange, ByteStore } from './byte-store';
import { kibibytes, mebibytes } from '../../platform';
import { Semaphore } from '../../platform/features';
import { FreeSpace, asStorageError } from './free-space';
import { type Holder, keysOf } from '../fair-slots';
import { PRIVATE_FILE } from './private-directory';

const SEGMENT = mebibytes(8);
const KEY = /^[0-9a-f-]{36}$/;
/** Bytes that are read at once. More than Node's default, as the files are large. */
const READ_SIZE = kibibytes(256);

/** A configuration store that keeps nothing: the rows are in the database. */
const NOTHING = {
  get: () => Promise.resolve(undefined),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
};

/** Stores uploads as files in a directory that all instances share. */
export class DiskStore extends ByteStore {
  readonly segmentTime = 1_000;
  readonly sealing = false;
  readonly finite = true;
  private readonly files: FileStore;
  private readonly space: FreeSpace;

  /** @param floor bytes that must stay free */
  constructor(
    private readonly directory: string,
    floor: number,
  ) {
    super();
    this.space = new FreeSpace(directory, floor);
    this.files = new FileStore({ directory, configstore: NOTHING });
  }

  segmentSize(): number {
    return SEGMENT;
  }

  requireRoom(bytes: number): Promise<void> {
    return this.space.require(bytes);
  }

  async create(key: string, size: number, holder: Holder): Promise<void> {
    try {
      await this.files.create(new TusUpload({ id: key, size, offset: 0 }));
      await chmod(this.pathOf(key), PRIVATE_FILE);
      // The directory entry must survive a crash of the machine too.
      await sync(this.directory, holder);
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async append(
    key: string,
    offset: number,
    bytes: AsyncIterable<Buffer>,
    most: number,
    holder: Holder,
  ): Promise<number> {
    try {
      // The library's file store hides the reason of a failed write.
      const file = createWriteStream(this.pathOf(key), { flags: 'r+', start: offset });
      await pipeline(this.space.guard(bytes, most), file);
      await sync(this.pathOf(key), holder);
      return offset + file.bytesWritten;
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async offsetOf(key: string): Promise<number | undefined> {
    const found = await stat(this.pathOf(key)).catch(unlessMissing);
    return found?.size;
  }

  /** A file needs no finalisation. */
  finish(): Promise<void> {
    return Promise.resolve();
  }

  read(key: string, range?: ByteRange): Promise<Readable> {
    return Promise.resolve(createReadStream(this.pathOf(key), { ...range, highWaterMark: READ_SIZE }));
  }

  async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  async *keysBefore(moment: Date): AsyncIterable<string> {
    const directory = await opendir(this.directory).catch(unlessMissing);
    for await (const { name } of directory ?? []) {
      const found = KEY.test(name) ? await stat(this.pathOf(name)).catch(unlessMissing) : undefined;
      if (found && found.mtime < moment) yield name;
    }
  }

  private pathOf(key: string): string {
    if (!KEY.test(key)) throw new Error('Not the key of an upload');
    return join(this.directory, key);
  }
}

/** Syncing occupies one of libuv's four threads as long as the disk takes, so no more than two run at once. */
export const syncing = new Semaphore(2, Infinity);

async function sync(path: string, holder: Holder): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await syncing.run(() => handle.sync(), undefined, keysOf(holder));
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
