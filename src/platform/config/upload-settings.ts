import { IsOptional, IsUrl } from 'class-validator';
import { CallerSettings } from './caller-settings';
import { Checked, isBucketName, Text, Whole } from './setting-rules';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;
const GIBIBYTE = 1024 ** 3;

/** What can be set about large uploads; part of the {@link Settings}. */
export abstract class UploadSettings extends CallerSettings {
  /** Bytes of one upload. */
  @Whole(1)
  MAX_UPLOAD_SIZE = 5 * GIBIBYTE;

  /** Bytes of all uploads of a user, unfinished ones with the size that they are to have. */
  @Whole(1)
  UPLOAD_QUOTA = 20 * GIBIBYTE;

  /** Uploads of a user, finished or not, however small. */
  @Whole(1)
  UPLOAD_MAX_COUNT = 10_000;

  /** Requests that bring bytes at once to one process; four times as many may download. */
  @Whole(1)
  UPLOAD_MAX_OPEN = 200;

  /** Of these, how many a user may have. */
  @Whole(1)
  UPLOAD_MAX_OPEN_PER_USER = 5;

  /** Seconds from its creation in which an upload has to be finished. */
  @Whole(1, 365 * DAY)
  UPLOAD_EXPIRY = DAY;

  /** Bytes that stay free on the disk of DATA_DIR, also when all that was promised has come; what would need them is refused. */
  @Whole(0)
  MIN_FREE_DISK = GIBIBYTE;

  /** The bucket, of this service alone, that uploads are kept in; under DATA_DIR when unset. */
  @IsOptional()
  @Checked('bucket', 'the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes', isBucketName)
  S3_BUCKET?: string;

  /** Where the bucket is; goes with S3_BUCKET. */
  @Text()
  S3_REGION?: string;

  /** Of storage that speaks S3 and isn't Amazon's. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  S3_ENDPOINT?: string;

  /** What the bucket is opened with; where unset, what Amazon's SDK finds: its variables, its files, the machine's role. */
  @Text()
  S3_ACCESS_KEY_ID?: string;

  @Text()
  S3_SECRET_ACCESS_KEY?: string;
}
