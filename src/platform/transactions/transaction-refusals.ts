/** SQLSTATE of a statement in a failed transaction, which PostgreSQL ignores until the rollback. */
const IN_FAILED_TRANSACTION = '25P02';

const KEYED = 'A request with an Idempotency-Key is one transaction';

/** Refusals of some uses of TypeORM. Each message names the use, the reason and the way out. */
export const Refusal = {
  unfinished: () =>
    new Error(
      'A query runner was released inside of its transaction, so what it wrote is undone. End it by commitTransaction() ' +
        'or rollbackTransaction() first, or use dataSource.transaction()',
    ),
  failed: (cause?: unknown) =>
    new Error(
      'A transaction was to be committed in which a statement had failed, so PostgreSQL would undo all of it. Roll it ' +
        'back, and do what may fail in a nested manager.transaction()',
      { cause },
    ),
  control: () =>
    new Error(
      `${KEYED}, so BEGIN, COMMIT and ROLLBACK can't be sent to it as statements. Use dataSource.transaction(), or ` +
        'startTransaction() of a query runner',
    ),
  noText: () =>
    new Error(
      `${KEYED}, of which others go on beside a stream or a cursor, so query() takes a text and values alone, and gives a ` +
        'promise. Read rows there, or give the route @TakesNoKey(reason)',
    ),
  noConnection: (member: string) =>
    new Error(
      `${KEYED}, whose connection others use too, so what connect() of a query runner gives has no ${member}: it has ` +
        'query(text, values) alone. Give the route @TakesNoKey(reason), or use a connection of your own',
    ),
  whichCommit: () =>
    new Error(
      'afterCommit() was called beside a transaction of the same request that startTransaction() has begun elsewhere, so ' +
        'it is unknown whether to wait for that. Call startTransaction() in the function that calls afterCommit(), or ' +
        'use dataSource.transaction()',
    ),
  isolation: (asked: string, given: string) =>
    new Error(
      `${KEYED}, whose isolation level is ${given}, so ${asked} can't be begun inside of it. Give the route ` +
        `@KeyedIsolation('${asked}')`,
    ),
  setting: () =>
    new Error(
      `${KEYED}, at the end of whose transactions a setting has to be brought back that can't be told from the statement. ` +
        "Write SET LOCAL name = value, or SELECT set_config('name', value, true), alone in a statement",
    ),
  undone: ({ strange }: { strange?: string }) =>
    new Error(
      `${KEYED}. Inside of a transaction of its handler, ${strange} was written by another manager than that ` +
        "transaction's own, and undone when that was rolled back. Write it by the transaction's own manager, or before " +
        'or after the transaction',
    ),
  undoneBeside: (strange: string) =>
    new Error(
      `A nested transaction was rolled back, and with it ${strange}, which the same query runner had written meanwhile. So all of ` +
        'the transaction is undone. Await a nested transaction before anything else of its manager',
    ),
  atOnce: () =>
    new Error(
      'Two nested transactions of one query runner have begun or ended at once, which TypeORM takes for one. So all of the ' +
        'transaction is undone. Await a nested transaction before the next one',
    ),
  left: () =>
    new Error(
      'A nested transaction() ended while a transaction was open in it that startTransaction() had begun, and which ended in its ' +
        'stead. So all of the transaction is undone. End that by commitTransaction() or rollbackTransaction() inside of it',
    ),
  unlocked: (name: string) =>
    new Error(
      `'${name}' was to be locked outside of a transaction, where the lock would end at once. Pass the manager of ` +
        'manager.transaction()',
    ),
  interleaved: () =>
    new Error(
      `${KEYED}, so of two transactions of one flow the later one has to end first. Roll that back before the earlier one`,
    ),
  notEnded: (cause: Error) =>
    new Error(
      `${KEYED}. It could not go on before a transaction of its handler had ended, which did not happen in time: await ` +
        'it, end it by commitTransaction() or rollbackTransaction(), and use no other manager while it is open',
      { cause },
    ),
};

export const isInFailed = (error: unknown): boolean => (error as { code?: string }).code === IN_FAILED_TRANSACTION;

export function explained(error: unknown): unknown {
  return isInFailed(error) ? Refusal.failed(error) : error;
}
