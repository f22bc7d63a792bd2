const PREPARED = '-1/';

/**
 * SQL for the transactions that write to the table $1: an INSERT locks it until its transaction ends, before its rows get their numbers.
 * It may get the number of the transaction itself only after those. Everybody may read this view. A prepared transaction is named
 * -1/... once the server has been started again.
 */
export const WRITERS = `
  SELECT coalesce(array_agg(virtualtransaction), '{}') AS writers FROM pg_locks
   WHERE locktype = 'relation' AND relation = $1::regclass AND mode = 'RowExclusiveLock' AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A row of {@link WRITERS}. */
export interface Writers {
  writers: string[];
}

/** Whether some of the writers may still be under way: a transaction that is prepared for its commit goes on under another name. */
export const areUnderWay = (writers: readonly string[], running: readonly string[]): boolean =>
  running.some((writer) => writers.includes(writer) || writer.startsWith(PREPARED));

/**
 * SQL for the last number that a table's rows were given, as an expression. The function waits for a number that is being given.
 * `last_value` of the sequence is up to 32 more for a moment then.
 */
export const lastNumberOf = (table: string): string =>
  `coalesce(pg_sequence_last_value('${table}_id_seq'::regclass), 0)`;
