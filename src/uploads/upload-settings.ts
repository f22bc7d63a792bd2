import { IsOptional, IsUrl } from 'class-validator';
import { CheckedSetting, type Contradiction, TextSetting, WholeSetting } from '../platform';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;
const GIBIBYTE = 1024 ** 3;

/** What can be set about large uploads. */
export class UploadSettings {
  /** Bytes of one upload. */
  @WholeSetting(1)
  MAX_UPLOAD_SIZE = 5 * GIBIBYTE;

  /** Bytes of all uploads of a user, unfinished ones with the size that they are to have. */
  @WholeSetting(1)
  UPLOAD_QUOTA = 20 * GIBIBYTE;

  /** Uploads of a user, finished or not, however small. */
  @WholeSetting(1)
  UPLOAD_MAX_COUNT = 10_000;

  /** Requests that bring bytes at once to one process; four times as many may download. */
  @WholeSetting(1)
  UPLOAD_MAX_OPEN = 200;

  /** Of these, how many a user may have. */
  @WholeSetting(1)
  UPLOAD_MAX_OPEN_PER_USER = 5;

  /** Seconds from its creation in which an upload has to be finished. */
  @WholeSetting(1, 365 * DAY)
  UPLOAD_EXPIRY = DAY;

  /** Bytes that stay free on the disk of DATA_DIR, also when all that was promised has come; what would need them is refused. */
  @WholeSetting(0)
  MIN_FREE_DISK = GIBIBYTE;

  /** The bucket, of this service alone, that uploads are kept in; under DATA_DIR when unset. */
  @IsOptional()
  @CheckedSetting('bucket', 'the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes', isBucketName)
  S3_BUCKET?: string;

  /** Where the bucket is; goes with S3_BUCKET. */
  @TextSetting()
  S3_REGION?: string;

  /** Of storage that speaks S3 and isn't Amazon's. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  S3_ENDPOINT?: string;

  /** What the bucket is opened with; where unset, what Amazon's SDK finds: its variables, its files, the machine's role. */
  @TextSetting()
  S3_ACCESS_KEY_ID?: string;

  @TextSetting()
  S3_SECRET_ACCESS_KEY?: string;
}

/** What belongs to a bucket says nothing without one: whoever sets it believes that uploads go there. */
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

/** What every storage that speaks S3 takes. */
function isBucketName(value: unknown): boolean {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(String(value));
}
