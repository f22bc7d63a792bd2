import type { Readable } from 'node:stream';
import { Upload as TusUpload } from '@tus/server';
import { type ByteRange, ByteStore } from './byte-store';
import { FreeSpace, asStorageError } from './free-space';
import { S3Bucket } from './s3-bucket';
import { fromS3Error } from './s3-errors';
import type { UploadSettings } from '../upload-settings';

/** A key, and the suffixes of objects that belong to an upload. */
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.info|\.\d+\.part)?$/;
/** Downloads hold sockets as long as their clients take. With the SDK's default of 50, uploads would wait for them. */
const MAX_SOCKETS = 1_000;
const CONNECTION_TIMEOUT = 5_000;
/**
 * The time without a byte, in milliseconds. It is longer than a request may take, so that started work ends in order.
 */
const SOCKET_TIMEOUT = 120_000;

/** The SDK would write to the console. Errors are thrown and logged. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Stores uploads in a bucket. Any instance can continue any upload. Only parts in transit are on the local disk. */
export class S3ByteStore extends ByteStore {
  /** Longer than on a disk, because each segment of a slow client sends the whole tail of the part again. */
  readonly segmentTime = 15_000;
  readonly sealing = true;
  readonly finite = false;
  private readonly bucket: S3Bucket;
  private readonly space: FreeSpace;

  /** @param directory where parts are gathered */
  constructor(settings: UploadSettings, directory: string) {
    super();
    this.space = new FreeSpace(directory, settings.MIN_FREE_DISK);
    this.bucket = new S3Bucket(clientConfig(settings), directory);
  }

  /** Up to the end of a part, so that a part is sent once. */
  segmentSize(offset: number, size: number): number {
    const partSize = this.bucket.partSize(size);
    return partSize - (offset % partSize);
  }

  /** A bucket is never full, but parts are gathered on the disk. */
  requireRoom(): Promise<void> {
    return this.space.require(0);
  }

  async create(key: string, size: number): Promise<void> {
    await translated(this.bucket.create(new TusUpload({ id: key, size, offset: 0 })));
  }

  append(key: string, offset: number, bytes: AsyncIterable<Buffer>, most: number): Promise<number> {
    return translated(this.bucket.append(key, offset, this.space.guard(bytes, most)));
  }

  async offsetOf(key: string, acknowledged: number): Promise<number | undefined> {
    return (await translated(this.bucket.holds(key, acknowledged))) ? acknowledged : undefined;
  }

  finish(key: string, size: number): Promise<void> {
    return translated(this.bucket.finish(key, size));
  }

  read(key: string, range?: ByteRange): Promise<Readable> {
    return translated(this.bucket.readRange(key, range));
  }

  remove(key: string): Promise<void> {
    return translated(this.bucket.remove(key));
  }

  async *keysBefore(moment: Date): AsyncIterable<string> {
    let last: string | undefined;
    for await (const { name, since } of this.bucket.everything()) {
      const [, key] = NAME.exec(name) ?? [];
      // The objects of an upload are adjacent in the listing.
      if (!key || key === last || since > moment) continue;
      yield (last = key);
    }
  }
}

function clientConfig({ S3_BUCKET, S3_REGION, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }: UploadSettings) {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return {
    bucket: S3_BUCKET!,
    region: S3_REGION,
    // Bucket names in host names need DNS entries that S3-compatible storage seldom has.
    ...(S3_ENDPOINT && { endpoint: S3_ENDPOINT, forcePathStyle: true }),
    ...(S3_ACCESS_KEY_ID && {
      credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY! },
    }),
    // Only Amazon supports checksums in trailers. Many others refuse them.
    requestChecksumCalculation: 'WHEN_REQUIRED' as const,
    responseChecksumValidation: 'WHEN_REQUIRED' as const,
    logger: SILENT,
    requestHandler: {
      logger: SILENT,
      connectionTimeout: CONNECTION_TIMEOUT,
      socketTimeout: SOCKET_TIMEOUT,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
}

async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asStorageError(fromS3Error(error));
  }
}
