import type { DataSource } from 'typeorm';
import type { DeliveredRow } from './payload';

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
  /** The webhooks whose receivers are known to be quick, and how many to take of all others together at most. */
  quick: Iterable<number>;
  ofOthers: number;
}

/**
 * The earliest of each resource and id alone: the next one waits until it was delivered or given up. Of two processes one
 * takes a delivery, and the other passes over it. Webhooks take their places in turns: whoever has the fewest is first. Chosen
 * apart from the UPDATE: within its join, PostgreSQL may choose again for each row, and would take more than it was asked for.
 * `now()` is rounded like `due_at`: otherwise a delivery that was made in this millisecond could wait for the next look.
 */
const CLAIM = `
  WITH due AS MATERIALIZED (
    SELECT due.*, webhook.id AS webhook_id, coalesce(busy.number, 0) AS under_way FROM webhooks AS webhook
      LEFT JOIN unnest($4::bigint[], $5::integer[]) AS busy (id, number) ON busy.id = webhook.id
     CROSS JOIN LATERAL (
       SELECT id, due_at FROM webhook_deliveries AS one
        WHERE webhook_id = webhook.id AND status = 'PENDING' AND due_at <= now()::timestamptz(3)
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
    SELECT id, webhook_id = ANY($6::bigint[]) AS is_quick,
           under_way + row_number() OVER (PARTITION BY webhook_id ORDER BY due_at, id) AS place FROM due
  ), ordered AS (
    SELECT id, is_quick, place, row_number() OVER (PARTITION BY is_quick ORDER BY place, random()) AS turn FROM placed
  ), chosen AS MATERIALIZED (
    SELECT id FROM ordered WHERE is_quick OR turn <= $7 ORDER BY place, random() LIMIT $1
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

export function claim(database: Pick<DataSource, 'query'>, options: ClaimOptions): Promise<Claimed[]> {
  const { free, share, lease, busy, quick, ofOthers } = options;
  return database.query<Claimed[]>(CLAIM, [
    ...[free, share, lease, [...busy.keys()], [...busy.values()]],
    ...[[...quick], ofOthers],
  ]);
}
