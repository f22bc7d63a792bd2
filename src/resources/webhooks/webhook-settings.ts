import { IsOptional } from 'class-validator';
import {
  CheckedSetting,
  SECONDS_PER_DAY,
  SECONDS_PER_HOUR,
  SECONDS_PER_MINUTE,
  WholeSetting,
  YesOrNoSetting,
} from '../../platform';
import { areNetworks } from './sending/networks';

/** The settings of webhooks. */
export class WebhookSettings {
  /** The number of webhooks. */
  @WholeSetting(1, 10_000)
  MAX_WEBHOOKS = 100;

  /**
   * Networks that webhooks are sent to although they are private, such as `10.1.0.0/16`, separated by commas. When unset, none
   * are: only the internet.
   */
  @IsOptional()
  @CheckedSetting('networks', 'networks such as 10.1.0.0/16,fd00:1::/64', areNetworks)
  WEBHOOK_ALLOWED_NETWORKS?: string;

  /** Whether webhooks may be sent by http. When unset: in production, only by https. */
  @IsOptional()
  @YesOrNoSetting()
  WEBHOOK_PLAIN_HTTP?: boolean;

  /** How long a delivery is tried again, in seconds. */
  @WholeSetting(SECONDS_PER_MINUTE, 30 * SECONDS_PER_DAY)
  WEBHOOK_RETRY_PERIOD = 3 * SECONDS_PER_DAY;

  /** The longest delay between two attempts, in seconds. Delays begin with one second, and double. */
  @WholeSetting(1, SECONDS_PER_DAY)
  WEBHOOK_MAX_DELAY = 6 * SECONDS_PER_HOUR;

  /** The time without a success after which a webhook is disabled, in seconds. */
  @WholeSetting(SECONDS_PER_MINUTE, 365 * SECONDS_PER_DAY)
  WEBHOOK_DISABLE_AFTER = 5 * SECONDS_PER_DAY;

  /** How long an old secret still signs beside a new one, in seconds. */
  @WholeSetting(0, 30 * SECONDS_PER_DAY)
  WEBHOOK_SECRET_OVERLAP = SECONDS_PER_DAY;

  /** How long deliveries are kept that have ended, in seconds. */
  @WholeSetting(SECONDS_PER_MINUTE, 365 * SECONDS_PER_DAY)
  WEBHOOK_DELIVERY_RETENTION = 7 * SECONDS_PER_DAY;

  /** Deliveries at once in one process. A webhook has a quarter of them at most. */
  @WholeSetting(1, 1_000)
  WEBHOOK_CONCURRENCY = 16;
}
