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

/** SQL for the last number of a table's rows, as an expression. `last_value` of a sequence that has given none yet is the first one. */
export const lastNumberOf = (table: string): string =>
  `(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${table}_id_seq)`;
