import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Changes } from '../../platform';

/** Deliveries of a webhook that wait at most. Further changes wait where they are recorded. */
const MAX_PENDING = 1_000;
/** Changes that one statement looks through. */
const STEP = 10_000;

const BEHIND = `
  SELECT webhook_id AS id FROM webhook_progress JOIN webhooks ON webhooks.id = webhook_id
   WHERE status = 'ACTIVE' AND position < $1 ORDER BY random()`;

/**
 * Who comes second passes on: the first one does the work. The webhook is kept, too: a deletion would hold it and wait for the
 * progress, while the deliveries wait for the webhook.
 */
const LOCK = `
  SELECT position, types, (SELECT count(*) FROM webhook_deliveries
                            WHERE webhook_id = $1 AND webhook_deliveries.status = 'PENDING')::integer AS pending
    FROM webhook_progress JOIN webhooks ON webhooks.id = webhook_id
   WHERE webhook_id = $1 AND status = 'ACTIVE'
     FOR UPDATE OF webhook_progress SKIP LOCKED FOR KEY SHARE OF webhooks SKIP LOCKED`;

/** Administrators read all changes. */
const ADD = `
  WITH found AS (
    SELECT event.id, resource, resource_id::bigint, coalesce(version_after, version_before) AS version, event.created_at,
           CASE WHEN readers_before IS NULL AND version_before IS NOT NULL THEN 'CREATED'
                WHEN readers_after IS NULL AND version_after IS NOT NULL THEN 'DELETED' ELSE action END AS change
      FROM audit_events AS event, webhook_progress AS progress
     WHERE progress.webhook_id = $1 AND event.id > $2 AND event.id <= $3 AND resource = ANY($4)
       AND (readers_before IS NOT NULL OR readers_after IS NOT NULL)
       AND event.created_at >= progress.since AND NOT progress.known @> event.id
     ORDER BY event.id LIMIT $5
  ), added AS (
    INSERT INTO webhook_deliveries (webhook_id, event_id, type, resource_id, change, resource_version, changed_at)
      SELECT $1, id, resource, resource_id, change, version, created_at FROM found ORDER BY id
  )
  SELECT count(*)::integer AS found, max(id) AS last FROM found`;

/** What it knew at its beginning is forgotten when it is past. */
const ADVANCE = `
  UPDATE webhook_progress
     SET position = $2::bigint, known = CASE WHEN upper(known) <= $2::bigint + 1 THEN '{}' ELSE known END
   WHERE webhook_id = $1`;

/** Makes a delivery of each change, for each webhook that wants its type. */
@Injectable()
export class Dispatcher {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly changes: Changes,
  ) {}

  /** @param isEnding tells whether to stop after the current step */
  async dispatch(isEnding: () => boolean): Promise<void> {
    const settled = await this.changes.now();
    const behind = await this.database.query<{ id: number }[]>(BEHIND, [settled]);
    for (const { id } of behind) {
      while (!isEnding() && (await this.database.transaction((manager) => advance(manager, id, settled))));
    }
  }
}

/** The deliveries and the position are one transaction. Returns whether there may be more to do. */
async function advance(manager: EntityManager, id: number, settled: number): Promise<boolean> {
  const [progress] = await manager.query<{ position: number; types: string[]; pending: number }[]>(LOCK, [id]);
  const room = MAX_PENDING - (progress?.pending ?? MAX_PENDING);
  if (room <= 0 || progress.position >= settled) return false;
  const end = Math.min(settled, progress.position + STEP);
  const values = [id, progress.position, end, progress.types, room];
  const [{ found, last }] = await manager.query<[{ found: number; last: number }]>(ADD, values);
  const position = found === room ? last : end;
  await manager.query(ADVANCE, [id, position]);
  return found < room && position < settled;
}
