import { WholeSetting } from '../../platform';

const DAY = 24 * 60 * 60;

/** What can be set about orders. */
export class OrderSettings {
  /** Seconds after which an order that is still PENDING is cancelled; 0 for never. */
  @WholeSetting(0, 3650 * DAY)
  ORDER_EXPIRY = DAY;

  /** Orders of a user that may be PENDING at a time. */
  @WholeSetting(1)
  MAX_OPEN_ORDERS = 100;
}
