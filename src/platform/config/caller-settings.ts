import { Whole } from './setting-rules';

const DAY = 24 * 60 * 60;

/** How much of the service one caller may take; part of the {@link Settings}. */
export abstract class CallerSettings {
  /** Idempotency keys of a user, or without an account of a network, that are remembered at a time. */
  @Whole(1)
  IDEMPOTENCY_KEY_LIMIT = 10_000;

  /** Seconds after which an order that is still PENDING is cancelled; 0 for never. */
  @Whole(0, 3650 * DAY)
  ORDER_EXPIRY = DAY;

  /** Orders of a user that may be PENDING at a time. */
  @Whole(1)
  MAX_OPEN_ORDERS = 100;
}
