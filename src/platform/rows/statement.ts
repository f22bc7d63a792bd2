import { DatabaseError, type QueryResultRow } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import { auditContext, contextSetting } from '../transactions/audit-context';
import { AuditedRunner } from '../transactions/audited-runner';
import { poolOf } from '../transactions/cancellable-pool';
import { nameOf } from '../transactions/statement-names';
import { transactionOf, UnitOfWork } from '../transactions/unit-of-work';
import { writerCheck } from '../transactions/writer';

/** The parameters that a statement of PostgreSQL may have. */
export const MAX_PARAMETERS = 65_535;

/**
 * Runs a statement where the manager would run it: in its transaction, in that of the current unit of work, or on any
 * connection, by a name there. TypeORM has no named statements, and builds a statement more slowly than PostgreSQL runs
 * it.
 * @throws {QueryFailedError} like TypeORM
 */
export async function runStatement<R extends QueryResultRow>(
  manager: EntityManager,
  text: string,
  values: unknown[],
): Promise<R[]> {
  if (isBound(manager)) return runBound<R>(manager, text, values);
  try {
    return (await poolOf(manager.dataSource).query<R>({ name: nameOf(text), text, values })).rows;
  } catch (error) {
    throw error instanceof DatabaseError ? new QueryFailedError(text, values, error) : error;
  }
}

/** True if a manager's statements have a connection: that of its query runner, or of the transaction of the unit of work. */
export function isBound({ queryRunner, dataSource }: EntityManager): boolean {
  return queryRunner !== undefined || transactionOf(dataSource) !== undefined;
}

async function runBound<R>({ queryRunner, dataSource }: EntityManager, text: string, values: unknown[]) {
  const runner = queryRunner ?? dataSource.createQueryRunner();
  try {
    return (await runner.query(text, values, true)).records as R[];
  } finally {
    if (!queryRunner) await runner.release();
  }
}

/** True if what the manager writes is committed together with a transaction. */
export function isInTransaction({ queryRunner, dataSource }: EntityManager): boolean {
  if (transactionOf(dataSource)) return true;
  return queryRunner instanceof AuditedRunner
    ? queryRunner.joinsTransaction
    : queryRunner?.isTransactionActive === true;
}

/** Columns that aren't returned: the results of the writer's check, and of the setting for the audit. */
const OWN_COLUMNS = ['writer_check', 'audit_context'];
/** The last first: without its last property an object of V8 may keep its fast form. */
const LAST_FIRST = OWN_COLUMNS.toReversed();

/**
 * Runs a statement that writes rows, and returns them. A statement outside of a transaction also checks its writer, and
 * tells the audit who writes. In a transaction its beginning tells that, and the check precedes the commit, see
 * {@link TransactionCheck}.
 * @param text the statement without RETURNING
 * @param columns the columns of the returned rows
 */
export async function runWrite<R extends QueryResultRow>(
  manager: EntityManager,
  text: string,
  values: unknown[],
  columns = '*',
): Promise<R[]> {
  const all = [...values];
  const own = isInTransaction(manager) ? [] : ownColumns(all);
  const rows = await runStatement<R>(manager, `${text} RETURNING ${[columns, ...own].join(', ')}`, all);
  if (own.length > 0) for (const row of rows) for (const column of LAST_FIRST) delete row[column];
  return rows;
}

function ownColumns(values: unknown[]): string[] {
  const writer = UnitOfWork.current()?.writer;
  const context = auditContext();
  const own = [writer && writerCheck(writer, values), context && contextSetting(context, values)];
  return own.flatMap((column, index) => (column ? [`${column} AS ${OWN_COLUMNS[index]}`] : []));
}
