import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Changes } from '../../platform';

/** Deliveries of a webhook that wait for nothing but their turn, at most. Further changes wait where they are recorded. */
const MAX_READY = 1_000;
/** All deliveries of a webhook that wait, with those that a failure holds up: what fails may not keep the others away. */
const MAX_PENDING = 3_000;
/** Deliveries of one resource that wait, at most. Further changes become one with the last of them. */
const MAX_OF_RESOURCE = 100;
/** Changes that one statement looks through. */
const STEP = 10_000;

const BEHIND = `
  SELECT webhook_id AS id FROM webhook_progress JOIN webhooks ON webhooks.id = webhook_id
   WHERE status = 'ACTIVE' AND position < $1 ORDER BY random()`;

/**
 * The second process passes on: the first one does the work. The webhook is kept, too: a deletion would hold it and wait for the
 * progress, while the deliveries wait for the webhook.
 */
const LOCK = `
  SELECT position, types FROM webhook_progress JOIN webhooks ON webhooks.id = webhook_id
   WHERE webhook_id = $1 AND status = 'ACTIVE'
     FOR UPDATE OF webhook_progress SKIP LOCKED FOR KEY SHARE OF webhooks SKIP LOCKED`;

/** What has failed holds the later changes of its resource up, and nothing else. */
const ROOM = `
  SELECT least(${MAX_READY} - count(*) FILTER (WHERE NOT is_held_up), ${MAX_PENDING} - count(*))::integer AS room
    FROM (SELECT bool_or(failures > 0) OVER (PARTITION BY type, resource_id) AS is_held_up
            FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'PENDING') AS waiting`;

/**
 * Administrators read all changes. A crowd of changes of one resource ends with a delivery that stands for all later ones, as long as
 * nobody has begun it: its message has the resource as it is when it is sent.
 */
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
  ), crowds AS (
    SELECT type, resource_id, max(event_id) AS last_id FROM webhook_deliveries
     WHERE webhook_id = $1 AND status = 'PENDING' AND event_id IS NOT NULL
     GROUP BY type, resource_id HAVING count(*) >= ${MAX_OF_RESOURCE}
  ), latest AS (
    SELECT DISTINCT ON (resource, resource_id) found.*, last_id
      FROM found JOIN crowds ON type = resource AND crowds.resource_id = found.resource_id
     ORDER BY resource, resource_id, id DESC
  ), joined AS (
    UPDATE webhook_deliveries AS last
       SET event_id = latest.id, change = latest.change, resource_version = latest.version, changed_at = latest.created_at
      FROM latest
     WHERE last.webhook_id = $1 AND last.event_id = last_id AND last.status = 'PENDING' AND last.attempts = 0
    RETURNING last.type, last.resource_id
  ), added AS (
    INSERT INTO webhook_deliveries (webhook_id, event_id, type, resource_id, change, resource_version, changed_at)
      SELECT $1, id, resource, resource_id, change, version, created_at FROM found
       WHERE NOT EXISTS (SELECT FROM joined WHERE type = resource AND joined.resource_id = found.resource_id) ORDER BY id
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
  const [progress] = await manager.query<{ position: number; types: string[] }[]>(LOCK, [id]);
  if (!progress || progress.position >= settled) return false;
  const [{ room }] = await manager.query<[{ room: number }]>(ROOM, [id]);
  if (room <= 0) return false;
  const end = Math.min(settled, progress.position + STEP);
  const values = [id, progress.position, end, progress.types, room];
  const [{ found, last }] = await manager.query<[{ found: number; last: number }]>(ADD, values);
  const position = found === room ? last : end;
  await manager.query(ADVANCE, [id, position]);
  return found < room && position < settled;
}
