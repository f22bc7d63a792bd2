import type { DataSource, EntityManager } from 'typeorm';
import type { Claimed } from './claims';
import type { Outcome } from './sending/send';
import type { WebhookSettings } from './webhook-settings';

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
