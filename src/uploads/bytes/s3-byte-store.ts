import type { Readable } from 'node:stream';
import { Upload as TusUpload } from '@tus/server';
import { type ByteRange, ByteStore } from './byte-store';
import { FreeSpace, orFull } from './free-space';
import { S3Bucket } from './s3-bucket';
import { fromS3Error } from './s3-errors';
import type { UploadSettings } from '../upload-settings';

/** The keys of uploads, and what may stand behind one in a name. */
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.info|\.\d+\.part)?$/;
/** Downloads hold theirs as long as their clients take; the SDK's 50 would make uploads wait for them. */
const MAX_SOCKETS = 1_000;
const CONNECTION_TIMEOUT = 5_000;
/** Without a byte. Longer than a request may take: what it has begun ends in order all the same. */
const SOCKET_TIMEOUT = 120_000;

/** The SDK would write to the console; what fails is thrown, and so in our log. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A bucket: any instance goes on with any upload, and nothing but parts on their way lies on this machine's disk. */
export class S3ByteStore extends ByteStore {
  /** Longer than on a disk: what a slow client sends is sent on once more with each of them, until a part is whole. */
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

  /** To the end of a part, so that a part is sent once and not in pieces. */
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
      // What belongs together comes one after the other.
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
    // Buckets as parts of host names need a DNS that others than Amazon seldom have.
    ...(S3_ENDPOINT && { endpoint: S3_ENDPOINT, forcePathStyle: true }),
    ...(S3_ACCESS_KEY_ID && {
      credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY! },
    }),
    // Checksums in trailers are Amazon's alone; many others refuse them.
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
    throw orFull(fromS3Error(error));
  }
}
