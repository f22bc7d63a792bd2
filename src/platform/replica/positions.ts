import type { DataSource } from 'typeorm';
import { poolOf } from '../transactions/cancellable-pool';
import { UnitOfWork } from '../transactions/unit-of-work';

// A position is a place in the write-ahead log of the primary, as a number of bytes. A replica that has replayed the log up to
// there shows all that was committed before.

/** The row whose position counts for everybody: the start of an instance, and writes of callers without an account. */
export const EVERYBODY = 0;

/** SQL for a position as a number, which is exact up to 8 PiB of log. */
export const numberOf = (lsn: string): string => `(${lsn} - '0/0'::pg_lsn)::float8`;

/**
 * SQL for the position that a replica must have reached for a user: of its own last write, or of everybody. NULL if the rows were
 * lost in a crash of the primary.
 * @param user SQL for the user's id
 */
export const positionFor = (user: string): string =>
  `(SELECT CASE WHEN bool_or(user_id = ${EVERYBODY}) THEN max(${numberOf('position')}) END
      FROM write_positions WHERE user_id IN (${EVERYBODY}, ${user}))`;

const RECORD = `INSERT INTO write_positions AS known VALUES ($1, pg_current_wal_insert_lsn())
  ON CONFLICT (user_id) DO UPDATE SET position = greatest(known.position, excluded.position)
  RETURNING ${numberOf('position')} AS position`;

/** In the order of the users: of two instances, one waits for the other, and never both. */
const RECORD_TOLD = `INSERT INTO write_positions AS known
    SELECT user_id, pg_current_wal_insert_lsn() FROM unnest($1::bigint[]) AS user_id ORDER BY user_id
  ON CONFLICT (user_id) DO UPDATE SET position = greatest(known.position, excluded.position)`;

/** Every position of before is lower, or comes from another server, whose dump was restored here. */
const BEGIN = `WITH gone AS (DELETE FROM write_positions WHERE user_id <> ${EVERYBODY})
  INSERT INTO write_positions VALUES (${EVERYBODY}, pg_current_wal_insert_lsn())
  ON CONFLICT (user_id) DO UPDATE SET position = excluded.position
  RETURNING ${numberOf('position')} AS position`;

const LOOK = `WITH kept AS (
    INSERT INTO write_positions VALUES (${EVERYBODY}, pg_current_wal_insert_lsn()) ON CONFLICT (user_id) DO NOTHING)
  SELECT ${numberOf('pg_current_wal_flush_lsn()')} AS position`;

/** Records that a user, or somebody without an account, has written up to here. Returns the position. */
export const recordWrite = (database: DataSource, user: number): Promise<number> => position(database, RECORD, [user]);

/** Records that users know what was written up to here. */
export async function recordTold(database: DataSource, users: number[]): Promise<void> {
  await UnitOfWork.outside(() => poolOf(database).query({ text: RECORD_TOLD, values: [users] }));
}

/** Begins anew: what was written before counts for everybody. */
export const beginPositions = (database: DataSource): Promise<number> => position(database, BEGIN);

/** The position of what the primary has on its disk. Begins anew if the primary has lost the positions. */
export const lookAtPrimary = (database: DataSource): Promise<number> => position(database, LOOK);

/** On a connection of its own: the request's may be in a transaction. */
async function position(database: DataSource, text: string, values: unknown[] = []): Promise<number> {
  const { rows } = await UnitOfWork.outside(() => poolOf(database).query<{ position: number }>({ text, values }));
  return rows[0].position;
}
