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
  /** The webhooks whose receivers keep their places for long, and how many to take of all of these together at most. */
  slow: Iterable<number>;
  ofSlow: number;
}

/**
 * The earliest of each resource and id alone: the next one waits until it was delivered or given up. Of two processes one
 * takes a delivery, and the other passes over it. Webhooks take their places in turns: whoever has the fewest is first. Chosen
 * apart from the UPDATE: within its join, PostgreSQL may choose again for each row, and would take more than it was asked for.
 */
const CLAIM = `
  WITH due AS MATERIALIZED (
    SELECT due.*, webhook.id AS webhook_id, coalesce(busy.number, 0) AS under_way FROM webhooks AS webhook
      LEFT JOIN unnest($4::bigint[], $5::integer[]) AS busy (id, number) ON busy.id = webhook.id
     CROSS JOIN LATERAL (
       SELECT id, due_at FROM webhook_deliveries AS one
        WHERE webhook_id = webhook.id AND status = 'PENDING' AND due_at <= now()
          AND (locked_until IS NULL OR locked_until < now())
          AND NOT EXISTS (SELECT FROM webhook_deliveries AS earlier
                           WHERE earlier.webhook_id = one.webhook_id AND earlier.status = 'PENDING'
                             AND earlier.type = one.type AND earlier.resource_id = one.resource_id
                             AND earlier.event_id < one.event_id)
        ORDER BY due_at, id LIMIT greatest($2::integer - coalesce(busy.number, 0), 0) FOR UPDATE SKIP LOCKED
     ) AS due
     WHERE webhook.status = 'ACTIVE'
       AND NOT EXISTS (SELECT FROM webhook_progress WHERE webhook_id = webhook.id AND not_before > now())
  ), placed AS (
    SELECT id, webhook_id = ANY($6::bigint[]) AS is_slow,
           under_way + row_number() OVER (PARTITION BY webhook_id ORDER BY due_at, id) AS place FROM due
  ), ordered AS (
    SELECT id, is_slow, place, row_number() OVER (PARTITION BY is_slow ORDER BY place, random()) AS turn FROM placed
  ), chosen AS MATERIALIZED (
    SELECT id FROM ordered WHERE NOT is_slow OR turn <= $7 ORDER BY place, random() LIMIT $1
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

export function claim(database: DataSource, options: ClaimOptions): Promise<Claimed[]> {
  const { free, share, lease, busy, slow, ofSlow } = options;
  return database.query<Claimed[]>(CLAIM, [
    ...[free, share, lease, [...busy.keys()], [...busy.values()]],
    ...[[...slow], ofSlow],
  ]);
}

/**
 * Whoever changes a webhook, or what belongs to it, locks the webhook first, then deliveries, then its progress. Otherwise the
 * deletion of a webhook and the end of an attempt would wait for each other.
 */
const KEPT = 'kept AS MATERIALIZED (SELECT id FROM webhooks WHERE id = $1 FOR KEY SHARE)';

/** Only while nobody else has taken it: its lease may have ended. */
const OWN = "webhook_id = (SELECT id FROM kept) AND id = $2 AND attempts = $3 AND status = 'PENDING'";

const SUCCEED = `
  WITH ${KEPT}, progress AS (
    UPDATE webhook_progress SET failing_since = NULL WHERE webhook_id = (SELECT id FROM kept) AND failing_since IS NOT NULL
  )
  UPDATE webhook_deliveries SET status = 'DELIVERED', ended_at = now(), locked_until = NULL, response_status = $4, failure = NULL
   WHERE ${OWN}`;

/**
 * Delays grow exponentially, from a second to the limit, and are never shorter than what the receiver asks for. A random part
 * keeps those that have failed together from coming back together.
 */
const FAIL = `
  WITH ${KEPT}
  UPDATE webhook_deliveries
     SET status = CASE WHEN now() < begun_at + $6 * interval '1 second' THEN 'PENDING' ELSE 'FAILED' END,
         ended_at = CASE WHEN now() < begun_at + $6 * interval '1 second' THEN NULL ELSE now() END,
         due_at = now() + greatest((0.5 + random()) * least(2 ^ least(failures, 30), $7), (1 + random() / 10) * $8)
                            * interval '1 second',
         failures = failures + 1, locked_until = NULL, response_status = $4, failure = $5
   WHERE ${OWN}`;

/** What another URL has answered is no matter of this one. */
const IS_FAILING = `
  UPDATE webhook_progress
     SET failing_since = coalesce(failing_since, now()),
         not_before = CASE WHEN $4 > 0 THEN greatest(not_before, now() + $4 * interval '1 second') ELSE not_before END
   WHERE webhook_id = $1 AND EXISTS (SELECT FROM webhooks WHERE id = $1 AND url = $2)
  RETURNING failing_since < now() - $3 * interval '1 second' AS too_long`;

const LOCK_ACTIVE = "SELECT FROM webhooks WHERE id = $1 AND url = $2 AND status = 'ACTIVE' FOR NO KEY UPDATE";

const FAILING_SINCE = `
  SELECT failing_since FROM webhook_progress
   WHERE webhook_id = $1 AND failing_since < now() - $2 * interval '1 second' FOR UPDATE`;

const DISABLE = "UPDATE webhooks SET status = 'DISABLED' WHERE id = $1";

const TELL = `
  INSERT INTO audit_events (action, resource, resource_id, details) VALUES ('WEBHOOK_DISABLED', 'webhooks', $1, $2)`;

/** The receiver wants nothing any more (RFC 9110, 15.5.11). */
const GONE = 410;

/** Why a webhook is disabled: since when it has failed, or what its receiver has answered. */
export interface Disabling {
  failing_since?: string;
  response_status?: number;
}

/** Records how an attempt has ended. Returns why the webhook is disabled by this, if it is. */
export async function record(
  database: DataSource,
  one: Claimed,
  outcome: Outcome,
  settings: WebhookSettings,
): Promise<Disabling | undefined> {
  const { webhook_id, id, attempts } = one;
  if (outcome.failure === null) {
    return void (await database.query(SUCCEED, [webhook_id, id, attempts, outcome.status]));
  }
  if (outcome.status === GONE) return recordGone(database, one, outcome, settings);
  const isTooLong = await database.transaction((manager) => recordFailure(manager, one, outcome, settings));
  // Apart, because the webhook must be locked first.
  return isTooLong ? database.transaction((manager) => disableIfFailing(manager, one, settings)) : undefined;
}

function recordGone(
  database: DataSource,
  one: Claimed,
  outcome: Outcome,
  settings: WebhookSettings,
): Promise<Disabling | undefined> {
  return database.transaction(async (manager) => {
    const isActive = await lockActive(manager, one);
    await recordFailure(manager, one, outcome, settings);
    return isActive ? disable(manager, one, { response_status: GONE }) : undefined;
  });
}

/** Returns whether the webhook fails for so long that it is to be disabled. */
async function recordFailure(
  manager: EntityManager,
  { id, attempts, webhook_id, url }: Claimed,
  { status, failure, retryAfter = 0 }: Outcome,
  { WEBHOOK_RETRY_PERIOD, WEBHOOK_MAX_DELAY, WEBHOOK_DISABLE_AFTER }: WebhookSettings,
): Promise<boolean> {
  const wait = Math.min(retryAfter, WEBHOOK_MAX_DELAY);
  const own = [webhook_id, id, attempts];
  await manager.query(FAIL, [...own, status, failure, WEBHOOK_RETRY_PERIOD, WEBHOOK_MAX_DELAY, wait]);
  const values = [webhook_id, url, WEBHOOK_DISABLE_AFTER, wait];
  const [[progress]] = await manager.query<[{ too_long: boolean }[]]>(IS_FAILING, values);
  return progress?.too_long ?? false;
}

/** It may have succeeded meanwhile, and an administrator may have changed the webhook. */
async function disableIfFailing(
  manager: EntityManager,
  one: Claimed,
  { WEBHOOK_DISABLE_AFTER }: WebhookSettings,
): Promise<Disabling | undefined> {
  if (!(await lockActive(manager, one))) return undefined;
  const values = [one.webhook_id, WEBHOOK_DISABLE_AFTER];
  const [progress] = await manager.query<{ failing_since: Date }[]>(FAILING_SINCE, values);
  return progress && disable(manager, one, { failing_since: progress.failing_since.toISOString() });
}

/** False for a webhook that isn't active, or whose URL isn't the one that was tried. */
async function lockActive(manager: EntityManager, { webhook_id, url }: Claimed): Promise<boolean> {
  return (await manager.query<unknown[]>(LOCK_ACTIVE, [webhook_id, url])).length > 0;
}

async function disable(manager: EntityManager, { webhook_id }: Claimed, why: Disabling): Promise<Disabling> {
  await manager.query(DISABLE, [webhook_id]);
  await manager.query(TELL, [String(webhook_id), why]);
  return why;
}
