import { IsOptional, IsUrl } from 'class-validator';
import { CheckedSetting, type Contradiction, gibibytes, SECONDS_PER_DAY, TextSetting, WholeSetting } from '../platform';

/** The settings of uploads. */
export class UploadSettings {
  /** The greatest size of an upload in bytes. */
  @WholeSetting(1)
  MAX_UPLOAD_SIZE = gibibytes(5);

  /** Bytes of all uploads of a user. An unfinished upload counts with its final size. */
  @WholeSetting(1)
  UPLOAD_QUOTA = gibibytes(20);

  /** The number of uploads of a user, finished or not. */
  @WholeSetting(1)
  UPLOAD_MAX_COUNT = 10_000;

  /** The number of upload requests at once in one process. Four times as many downloads are allowed. */
  @WholeSetting(1)
  UPLOAD_MAX_OPEN = 200;

  /** The number of upload requests at once of one user. */
  @WholeSetting(1)
  UPLOAD_MAX_OPEN_PER_USER = 5;

  /** The time from its creation in which an upload must be finished, in seconds. */
  @WholeSetting(1, 365 * SECONDS_PER_DAY)
  UPLOAD_EXPIRY = SECONDS_PER_DAY;

  /**
   * Bytes that stay free on the disk of DATA_DIR, even when all announced bytes have arrived. An upload that needs them
   * is refused.
   */
  @WholeSetting(0)
  MIN_FREE_DISK = gibibytes(1);

  /** The bucket of uploads, for this service alone. When unset, uploads are stored under DATA_DIR. */
  @IsOptional()
  @CheckedSetting('bucket', 'the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes', isBucketName)
  S3_BUCKET?: string;

  /** The region of the bucket; required with S3_BUCKET. */
  @TextSetting()
  S3_REGION?: string;

  /** The URL of S3-compatible storage other than Amazon's. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  S3_ENDPOINT?: string;

  /**
   * The credentials of the bucket. When unset, Amazon's SDK finds them: in its variables, its files, or the machine's
   * role.
   */
  @TextSetting()
  S3_ACCESS_KEY_ID?: string;

  @TextSetting()
  S3_SECRET_ACCESS_KEY?: string;
}

/** Settings of a bucket without S3_BUCKET have no effect, although the operator expects uploads to go there. */
export function bucketContradictions(own: UploadSettings): Contradiction[] {
  const { S3_BUCKET, S3_REGION, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = own;
  return [
    [Boolean(S3_BUCKET) !== Boolean(S3_REGION), 'S3_BUCKET and S3_REGION go together'],
    [Boolean(S3_ENDPOINT && !S3_BUCKET), 'S3_ENDPOINT goes with S3_BUCKET'],
    [
      Boolean(S3_ACCESS_KEY_ID) !== Boolean(S3_SECRET_ACCESS_KEY),
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together',
    ],
    [Boolean(S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY && !S3_BUCKET), 'S3_ACCESS_KEY_ID goes with S3_BUCKET'],
  ];
}

/** Bucket names that all S3-compatible storage accepts. */
function isBucketName(value: unknown): boolean {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(String(value));
}
