import { OmitType } from '@nestjs/swagger';
import {
  AuditEvent,
  Id,
  JsonObject,
  ListOfTexts,
  ListQueryOf,
  mebibytes,
  Text,
  Timestamp,
  Whole,
} from '../../platform';

/** The greatest size of the old or new values of a row, which are those of the resource itself. */
const maxBytes = mebibytes(1);
const RESOURCE = /[a-z][a-z0-9-]*/;
const ACTION = /[A-Z][A-Z0-9_]*/;

/** The attributes of an audit event. Nothing changes or deletes it. */
export class AuditEventDto {
  /** The number of the event. A later event has a greater one, unless both happened at the same time. @example 1 */
  @Id()
  id: number;

  /**
   * The moment of the change.
   * @example 2026-01-31T12:00:00.000Z
   */
  @Timestamp()
  created_at: Date;

  /**
   * The caller: the id of a user. Null for work of the service itself, and where nobody has signed in.
   * @example 2
   */
  @Id({ nullable: true })
  user_id: number | null;

  /**
   * The `X-Request-Id` of the request. Null for work of the service itself.
   * @example 7f1a4c1e-52a8-4a0e-9d0b-0c2d6a4b8d55
   */
  @Text({ max: 128, nullable: true })
  request_id: string | null;

  /**
   * The address of the client. Null for work of the service itself.
   * @example 192.0.2.1
   */
  @Text({ max: 100, nullable: true })
  address: string | null;

  /**
   * What happened: `CREATED`, `UPDATED` or `DELETED` for a change of a resource, and else the name of a security event, such
   * as `AUTHN_LOGIN_FAIL`.
   * @example UPDATED
   */
  @Text({ min: 1, max: 63, pattern: ACTION })
  action: string;

  /**
   * The resource, as in its paths. Null if the event is about none.
   * @example products
   */
  @Text({ min: 1, max: 63, nullable: true, pattern: RESOURCE })
  resource: string | null;

  /**
   * The id of the resource, as in its path.
   * @example "1"
   */
  @Text({ min: 1, max: 63, nullable: true })
  resource_id: string | null;

  /**
   * The version of the resource before the change. Null if it was created, and if the event isn't a change.
   * @example 1
   */
  @Whole({ min: 1, nullable: true })
  version_before: number | null;

  /**
   * The version of the resource after the change. Null if it was deleted, and if the event isn't a change.
   * @example 2
   */
  @Whole({ min: 1, nullable: true })
  version_after: number | null;

  /**
   * The attributes that changed, with their values before the change. Null for a new resource.
   * @example { "price": 9.95 }
   */
  @JsonObject({ maxBytes, nullable: true })
  before: Record<string, unknown> | null;

  /**
   * The attributes that changed, with their values after the change. Null for a deleted resource.
   * @example { "price": 8.5 }
   */
  @JsonObject({ maxBytes, nullable: true })
  after: Record<string, unknown> | null;

  /**
   * Attributes that changed too, and whose values are secret.
   * @example []
   */
  @ListOfTexts({ max: 100, each: { min: 1, max: 63 } })
  concealed: string[];

  /**
   * What else a security event tells, such as the status of a refused request. Null for a change of a resource.
   * @example { "outcome": "failure", "status": 403, "method": "GET", "target": { "id": 5 } }
   */
  @JsonObject({ nullable: true })
  details: Record<string, unknown> | null;
}

/** What the list of audit events can be asked for. */
export class ListAuditEventsQuery extends OmitType(
  ListQueryOf(AuditEventDto, { sortable: AuditEvent, filterable: ['user_id', 'created_at'] }),
  ['search'],
) {
  /**
   * Only events about this resource, as in its paths.
   * @example products
   */
  @Text({ min: 1, max: 63, optional: true, pattern: RESOURCE })
  resource?: string;

  /**
   * Only events about the resource with this id. Give `resource` as well: other resources may have the same id, and the
   * search is quick with both.
   * @example "1"
   */
  @Text({ min: 1, max: 63, optional: true })
  resource_id?: string;

  /**
   * Only events with this action.
   * @example UPDATED
   */
  @Text({ min: 1, max: 63, optional: true, pattern: ACTION })
  action?: string;
}

export const toAuditEventDto = (event: AuditEvent): AuditEventDto => ({
  id: event.id,
  created_at: event.created_at,
  user_id: event.user_id,
  request_id: event.request_id,
  address: event.address,
  action: event.action,
  resource: event.resource,
  resource_id: event.resource_id,
  version_before: event.version_before,
  version_after: event.version_after,
  before: event.before,
  after: event.after,
  concealed: event.concealed,
  details: event.details,
});
