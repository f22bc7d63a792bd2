import { OmitType, PartialType } from '@nestjs/swagger';
import {
  InputOf,
  ListOfTexts,
  ListQueryOf,
  OneOf,
  ResourceDto,
  SECONDS_PER_DAY,
  resourceOf,
  Text,
  Timestamp,
  WebAddress,
  Whole,
} from '../../platform';
import { Webhook, WebhookStatus } from './webhook.entity';

/** What an administrator may set. */
enum ChosenStatus {
  ACTIVE = 'ACTIVE',
  PAUSED = 'PAUSED',
}

/** The attributes of a webhook. Its secret isn't one of them. */
export class WebhookDto extends ResourceDto {
  /**
   * The URL of the receiver, to which changes are sent by POST. In production it must begin with https://. Addresses of
   * private networks are closed, and so are ports below 1024 other than that of the scheme.
   * @example https://example.com/hooks/shop
   */
  @WebAddress()
  url: string;

  /** The types of the changes to send, as in the paths of their resources. @example ["products", "orders"] */
  @ListOfTexts({ min: 1, max: 50, each: { min: 1, max: 63, pattern: /[a-z][a-z0-9-]*/ }, unique: true })
  types: string[];

  /** What it is for. @example "The mirror of the shop." */
  @Text({ max: 500, nullable: true })
  description: string | null;

  /**
   * A webhook that is PAUSED or DISABLED gets nothing until it is ACTIVE again, and then what has changed meanwhile, as far as
   * the service keeps changes. The service sets DISABLED when nothing could be delivered for days, and when the receiver answers
   * 410.
   * @example ACTIVE
   */
  @OneOf(WebhookStatus)
  status: WebhookStatus;
}

/** A webhook and its secret, which no other answer has. */
export class NewWebhookDto extends WebhookDto {
  /**
   * The secret by which deliveries are signed (Standard Webhooks). It can't be read again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
   */
  @Text({ max: 100 })
  secret: string;
}

/** The body of a new webhook. */
export class CreateWebhookDto extends InputOf(WebhookDto, {
  required: ['url', 'types'],
  defaults: { description: null },
}) {
  /** PAUSED sends nothing until the status is ACTIVE. @example ACTIVE */
  @OneOf(ChosenStatus, { default: ChosenStatus.ACTIVE })
  status: ChosenStatus;
}

/** The attributes to change. */
export class PatchWebhookDto extends PartialType(CreateWebhookDto, { skipNullProperties: false }) {}

/** What the list of webhooks can be asked for. */
export class ListWebhooksQuery extends OmitType(
  ListQueryOf(WebhookDto, { sortable: Webhook, statuses: WebhookStatus }),
  ['search'],
) {}

/** What a new secret is made of. */
export class CreateSecretDto {
  /** For how many seconds the secret before signs too. Default: a day, or what the operator has set. @example 3600 */
  @Whole({ min: 0, max: 30 * SECONDS_PER_DAY, optional: true })
  overlap?: number;
}

/** A new secret. */
export class NewSecretDto {
  /**
   * The secret by which deliveries are signed from now on. It can't be read again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
   */
  @Text({ max: 100 })
  secret: string;

  /** Until then the secret before signs too, so that a receiver may change it in its own time. */
  @Timestamp()
  previous_secret_until: Date;
}

export const toWebhookDto = (webhook: Webhook): WebhookDto =>
  resourceOf(webhook, {
    url: webhook.url,
    types: webhook.types,
    description: webhook.description,
    status: webhook.status,
  });
