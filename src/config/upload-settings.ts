import { Whole } from './setting-rules';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;
const GIBIBYTE = 1024 ** 3;

/** What can be set about large uploads; part of the {@link Settings}. */
export abstract class UploadSettings {
  /** Bytes of one upload. */
  @Whole(1)
  MAX_UPLOAD_SIZE = 5 * GIBIBYTE;

  /** Bytes of all uploads of a user, unfinished ones with the size that they are to have. */
  @Whole(1)
  UPLOAD_QUOTA = 20 * GIBIBYTE;

  /** Seconds from its creation in which an upload has to be finished. */
  @Whole(1, 365 * DAY)
  UPLOAD_EXPIRY = DAY;

  /** Bytes that stay free on the disk of DATA_DIR; what would need them is refused. */
  @Whole(0)
  MIN_FREE_DISK = GIBIBYTE;
}
