import { ApiProperty, OmitType } from '@nestjs/swagger';
import {
  Id,
  ListQueryOf,
  OneOf,
  ResourceDto,
  resourceOf,
  SECONDS_PER_DAY,
  Text,
  Timestamp,
  Whole,
} from '../../platform';
import { DeliveredChange, Delivery, DeliveryStatus } from './delivery.entity';
import { Failure } from './sending/send';

const MOMENT_OR_NULL = {
  ...{ type: String, format: 'date-time', maxLength: 24, nullable: true },
  example: '2026-01-31T12:00:00.000Z',
};

/** The attributes of a delivery. The header `webhook-id` is `delivery_` and its id. Nothing of the receiver's answer is kept but its status. */
export class DeliveryDto extends ResourceDto {
  /** The id of the webhook. @example 1 */
  @Id()
  webhook_id: number;

  /** The type of the resource, as in its paths. @example products */
  @Text({ min: 1, max: 63 })
  type: string;

  /** The id of the resource. @example 1 */
  @Id()
  resource_id: number;

  /** What happened to the resource. TEST is a delivery to try the webhook. @example UPDATED */
  @OneOf(DeliveredChange)
  change: DeliveredChange;

  /** The version after the change; the last one of a deleted resource. Null for a test. @example 2 */
  @Whole({ min: 1, nullable: true })
  resource_version: number | null;

  /** The moment of the change. */
  @Timestamp()
  changed_at: Date;

  /** PENDING is sent for the first time or again, FAILED was given up. @example DELIVERED */
  @OneOf(DeliveryStatus)
  status: DeliveryStatus;

  /** The number of attempts so far. One that is under way counts. @example 1 */
  @Whole()
  attempts: number;

  /** The moment of the last attempt. Null before the first one. */
  @ApiProperty(MOMENT_OR_NULL)
  attempted_at: Date | null;

  /** The status of the receiver's last answer. Null if the last attempt got none. @example 204 */
  @Whole({ min: 100, max: 999, nullable: true })
  response_status: number | null;

  /**
   * Why the last attempt has failed: a status other than 2xx, no answer in time, a host without an address, an address that is
   * closed to webhooks, no valid certificate, no connection, or a fault of the service itself. Null if it hasn't failed.
   * @example TIMEOUT
   */
  @OneOf(Failure, { nullable: true })
  failure: Failure | null;

  /** When the next attempt is due. Null if there is none. */
  @ApiProperty(MOMENT_OR_NULL)
  next_attempt_at: Date | null;
}

/** What a delivery to try a webhook is made of. */
export class CreateTestDto {
  /** Only TEST: the service makes all others. @example TEST */
  @OneOf([DeliveredChange.TEST], { default: DeliveredChange.TEST })
  change: DeliveredChange.TEST;
}

/** When to send a delivery again. */
export class CreateAttemptDto {
  /** The least number of seconds until it is sent. @example 0 */
  @Whole({ max: SECONDS_PER_DAY, default: 0 })
  delay: number;
}

/** What the list of deliveries can be asked for. */
export class ListDeliveriesQuery extends OmitType(
  ListQueryOf(DeliveryDto, { sortable: Delivery, statuses: DeliveryStatus }),
  ['search'],
) {}

export const toDeliveryDto = (delivery: Delivery): DeliveryDto =>
  resourceOf(delivery, {
    webhook_id: delivery.webhook_id,
    type: delivery.type,
    resource_id: delivery.resource_id,
    change: delivery.change,
    resource_version: delivery.resource_version,
    changed_at: delivery.changed_at,
    status: delivery.status,
    attempts: delivery.attempts,
    attempted_at: delivery.attempted_at,
    response_status: delivery.response_status,
    failure: delivery.failure,
    next_attempt_at: delivery.status === DeliveryStatus.PENDING ? delivery.due_at : null,
  });
