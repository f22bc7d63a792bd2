import { ApiProperty } from '@nestjs/swagger';
import { Id, JsonObject, mebibytes, ObjectOf, OneOf, Text, Timestamp, Whole } from '../../platform';
import { declareWebhook, headerText } from '../../platform/features';
import { DeliveredChange } from './delivery.entity';

const PRODUCT = {
  ...{ id: 1, created_at: '2026-01-05T09:00:00.000Z', updated_at: '2026-01-31T12:00:00.000Z', version: 2 },
  ...{ name: 'Espresso cup', description: 'Porcelain, 80 ml.', price: 9.95, stock: 119, status: 'ACTIVE', image: null },
};
const AT = '2026-01-31T12:00:00.000Z';

/** A change, as a webhook gets it. */
export class WebhookChangeDto {
  /** The type of the resource: its name in the paths. `webhooks` for a test. @example products */
  @Text({ min: 1, max: 63 })
  type: string;

  /** The id of the resource. Of a test: that of the webhook. @example 1 */
  @Id()
  id: number;

  /** What happened to the resource. @example UPDATED */
  @OneOf(DeliveredChange)
  change: DeliveredChange;

  /** The version after the change; the last one of a deleted resource. Null for a test. @example 2 */
  @Whole({ min: 1, nullable: true })
  version: number | null;

  /** The moment of the change. @example 2026-01-31T12:00:00.000Z */
  @Timestamp()
  at: Date;

  /**
   * The resource as administrators read it at the moment of sending, which may be newer than this change: compare its
   * `version`. Null if there is none any more, and for a test.
   */
  @ApiProperty({ example: PRODUCT })
  @JsonObject({ maxBytes: mebibytes(1), nullable: true })
  resource: object | null;
}

/** The body of a delivery, in the form of Standard Webhooks. */
export class WebhookMessageDto {
  /** The type of the resource and the change. @example products.updated */
  @Text({ min: 1, max: 80 })
  type: string;

  /** The moment of the change. @example 2026-01-31T12:00:00.000Z */
  @Timestamp()
  timestamp: Date;

  @ObjectOf(() => WebhookChangeDto)
  data: WebhookChangeDto;
}

function example(change: DeliveredChange, data: object): object {
  const type = change === DeliveredChange.TEST ? 'webhooks' : 'products';
  const message = { type: `${type}.${change.toLowerCase()}`, timestamp: AT };
  return { ...message, data: { type, id: 1, change, version: 2, at: AT, resource: null, ...data } };
}

const { CREATED, UPDATED, DELETED, TEST } = DeliveredChange;

declareWebhook('change', {
  group: 'Webhooks',
  summary: 'A resource has changed',
  description:
    'Sent to the `url` of each ACTIVE webhook that has the type: at least once, and for each resource in the order of its ' +
    'changes. Verify the signature by any library of Standard Webhooks, or by `verifyWebhook()` of the client, before you ' +
    'use the body. Answer within ten seconds. Ignore a `webhook-id` that you have seen.',
  body: WebhookMessageDto,
  headers: {
    'webhook-id': {
      description: 'The same for each attempt of a delivery.',
      schema: headerText(64, '^delivery_[0-9]+$'),
      example: 'delivery_1',
    },
    'webhook-timestamp': {
      description: 'The moment of the attempt, in seconds since 1970. Refuse one that is more than five minutes off.',
      schema: headerText(16, '^[0-9]+$'),
      example: '1769860800',
    },
    'webhook-signature': {
      description:
        'HMAC-SHA256 of `webhook-id.webhook-timestamp.body` in Base64, after `v1,`. During a rotation, a second one by the ' +
        'secret before, after a space. One that matches suffices.',
      schema: headerText(256, '^v1,\\S+( v1,\\S+)*$'),
      example: 'v1,osYGV1RwhFrNxjWVrxTmJzB62slgH+kNpNE4rrlRJmA=',
    },
  },
  examples: {
    created: { summary: 'A new resource', value: example(CREATED, { version: 1, resource: PRODUCT }) },
    updated: { summary: 'A changed resource', value: example(UPDATED, { resource: PRODUCT }) },
    deleted: { summary: 'A deleted resource', value: example(DELETED, {}) },
    test: { summary: 'A test', value: example(TEST, { version: null }) },
  },
  answers: {
    '2XX': 'The delivery has succeeded. The body is not looked at.',
    410: 'The webhook is disabled at once. The delivery waits until an administrator sets it ACTIVE again.',
    429: 'Nothing is sent to this webhook for as long as `Retry-After` says, seconds or a date, at most six hours. 503 alike.',
    default: 'The delivery is tried again, for three days. No redirect is followed.',
  },
});
