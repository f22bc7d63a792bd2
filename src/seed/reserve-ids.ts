import type { ClientBase } from 'pg';
import type { Counts } from './rows/world';

/** The number of ids in one answer of the server. */
const PORTION = 100_000;

/** Takes ids from the sequences, so that concurrent writers don't get them. */
export async function reserveIds(client: ClientBase, counts: Counts): Promise<Record<string, number[]>> {
  const ids: Record<string, number[]> = {};
  for (const resource of Object.keys(counts)) {
    // The usernames of seeded users end with their ids, which must not be at the end of an existing username.
    const taken = resource === 'users' ? await numbersInNames(client) : new Set<number>();
    ids[resource] = [];
    while (ids[resource].length < counts[resource]) {
      const portion = await takeIds(client, resource, Math.min(PORTION, counts[resource] - ids[resource].length));
      for (const id of portion) if (!taken.has(id)) ids[resource].push(id);
    }
  }
  return ids;
}

/** As one text: as rows they would take longer than the seeded rows. */
async function takeIds(client: ClientBase, resource: string, count: number): Promise<number[]> {
  const { rows } = await client.query<{ ids: string }>(
    `SELECT string_agg(nextval(pg_get_serial_sequence($1, 'id'))::text, ' ') AS ids FROM generate_series(1, $2)`,
    [resource, count],
  );
  return rows[0].ids.split(' ').map(Number);
}

/** Only numbers above the greatest id can collide with a new one. */
async function numbersInNames(client: ClientBase): Promise<Set<number>> {
  const { rows } = await client.query<{ number: string }>(
    `SELECT number FROM users,
       LATERAL (VALUES (substring(username_key FROM '[0-9]+$')), (substring(email_key FROM '([0-9]+)@'))) AS name (number)
     WHERE deleted_at IS NULL AND number::numeric > (SELECT coalesce(max(id), 0) FROM users)`,
  );
  return new Set(rows.map(({ number }) => Number(number)));
}
