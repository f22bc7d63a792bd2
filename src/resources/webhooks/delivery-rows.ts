import type { DataSource, EntityManager } from 'typeorm';

import type { DeliveredRow } from './payload';
import type { Outcome } from './sending/send';
import type { WebhookSettings } from './webhook-settings';

/** A delivery that this process has taken. */
export interface Claimed extends DeliveredRow {
  webhook_id: number;
  /** The number of this attempt. Who has taken the delivery since has a greater one. */
  attempts: number;
  url: string;
  /** The sealed secrets that sign, the current one first. */
  secrets: Buffer[];
}

export interface ClaimOptions {
  /** How many to take at most, and how many of one webhook are under way at most. */
  free: number;
  share: number;
  /** Milliseconds. */
  lease: number;
  /** How many of a webhook are under way in this process, by its id. */
  busy: ReadonlyMap<number, number>;
}

/**
 * The earliest of each resource and id alone: the next one waits until it was delivered or given up. Of two processes one
 * takes a delivery, and the other passes over it. Chosen apart from the UPDATE: within its join, PostgreSQL may choose again
 * for each row, and would take more than it was asked for.
 */
const CLAIM = `
  WITH chosen AS MATERIALIZED (
    SELECT due.id FROM webhooks AS webhook
      LEFT JOIN unnest($4::bigint[], $5::integer[]) AS busy (id, number) ON busy.id = webhook.id
     CROSS JOIN LATERAL (
       SELECT id FROM webhook_deliveries AS one
        WHERE webhook_id = webhook.id AND status = 'PENDING' AND due_at <= now()
          AND (locked_until IS NULL OR locked_until < now())
          AND NOT EXISTS (SELECT FROM webhook_deliveries AS earlier
                           WHERE earlier.webhook_id = one.webhook_id AND earlier.status = 'PENDING'
                             AND earlier.type = one.type AND earlier.resource_id = one.resource_id
                             AND earlier.event_id < one.event_id)
        ORDER BY due_at, id LIMIT greatest($2::integer - coalesce(busy.number, 0), 0) FOR UPDATE SKIP LOCKED
     ) AS due
     WHERE webhook.status = 'ACTIVE' ORDER BY random() LIMIT $1
  ), taken AS (
    UPDATE webhook_deliveries
       SET attempts = attempts + 1, attempted_at = now(), begun_at = coalesce(begun_at, now()),
           locked_until = now() + $3 * interval '1 millisecond'
     WHERE id IN (SELECT id FROM chosen)
    RETURNING *
  )
  SELECT taken.id, webhook_id, type, resource_id, change, resource_version, changed_at, attempts, url,
         CASE WHEN previous_secret_until > now() THEN ARRAY[secret, previous_secret] ELSE ARRAY[secret] END AS secrets
    FROM taken JOIN webhooks ON webhooks.id = webhook_id`;

export function claim(database: DataSource, { free, share, lease, busy }: ClaimOptions): Promise<Claimed[]> {
  return database.query<Claimed[]>(CLAIM, [free, share, lease, [...busy.keys()], [...busy.values()]]);
}

/** Only while nobody else has taken it: its lease may have ended. */
const OWN = "id = $1 AND attempts = $2 AND status = 'PENDING'";

const SUCCEED = `
  WITH progress AS (
    UPDATE webhook_progress SET failing_since = NULL WHERE webhook_id = $4 AND failing_since IS NOT NULL
  )
  UPDATE webhook_deliveries SET status = 'DELIVERED', ended_at = now(), locked_until = NULL, response_status = $3, failure = NULL
   WHERE ${OWN}`;

/**
 * Delays grow exponentially, from a second to the limit. A random part keeps those that have failed together from coming back
 * together.
 */
const FAIL = `
  UPDATE webhook_deliveries
     SET status = CASE WHEN now() < begun_at + $5 * interval '1 second' THEN 'PENDING' ELSE 'FAILED' END,
         ended_at = CASE WHEN now() < begun_at + $5 * interval '1 second' THEN NULL ELSE now() END,
         due_at = now() + (0.5 + random()) * least(2 ^ least(failures, 30), $6) * interval '1 second',
         failures = failures + 1, locked_until = NULL, response_status = $3, failure = $4
   WHERE ${OWN}`;

const IS_FAILING = `
  UPDATE webhook_progress SET failing_since = coalesce(failing_since, now())
   WHERE webhook_id = $1 RETURNING failing_since, failing_since < now() - $2 * interval '1 second' AS too_long`;

const DISABLE = "UPDATE webhooks SET status = 'DISABLED' WHERE id = $1 AND status = 'ACTIVE' RETURNING id";

const TELL = `
  INSERT INTO audit_events (action, resource, resource_id, details) VALUES ('WEBHOOK_DISABLED', 'webhooks', $1, $2)`;

/** Records how an attempt has ended. Returns since when a webhook has failed that is disabled by this. */
export async function record(
  database: DataSource,
  { id, attempts, webhook_id }: Claimed,
  { status, failure }: Outcome,
  { WEBHOOK_RETRY_PERIOD, WEBHOOK_MAX_DELAY, WEBHOOK_DISABLE_AFTER }: WebhookSettings,
): Promise<Date | undefined> {
  if (failure === null) return void (await database.query(SUCCEED, [id, attempts, status, webhook_id]));
  return database.transaction(async (manager) => {
    await manager.query(FAIL, [id, attempts, status, failure, WEBHOOK_RETRY_PERIOD, WEBHOOK_MAX_DELAY]);
    return disableIfFailing(manager, webhook_id, WEBHOOK_DISABLE_AFTER);
  });
}

async function disableIfFailing(manager: EntityManager, id: number, limit: number): Promise<Date | undefined> {
  const [[progress]] = await manager.query<[{ failing_since: Date; too_long: boolean }[]]>(IS_FAILING, [id, limit]);
  if (!progress?.too_long) return undefined;
  const [disabled] = await manager.query<[unknown[]]>(DISABLE, [id]);
  if (disabled.length === 0) return undefined;
  await manager.query(TELL, [String(id), { failing_since: progress.failing_since.toISOString() }]);
  return progress.failing_since;
}
