import { SECONDS_PER_DAY, WholeSetting } from '../../platform';

/** The settings of orders. */
export class OrderSettings {
  /** The time after which a PENDING order is cancelled, in seconds; 0 for never. */
  @WholeSetting(0, 3650 * SECONDS_PER_DAY)
  ORDER_EXPIRY = SECONDS_PER_DAY;

  /** The number of PENDING orders that a user may have. */
  @WholeSetting(1)
  MAX_OPEN_ORDERS = 100;
}
