import { createHash } from 'node:crypto';
import { DatabaseError, type QueryResultRow } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import { poolOf } from '../transactions/cancellable-pool';
import { transactionOf, UnitOfWork } from '../transactions/unit-of-work';
import { writerCheck } from '../transactions/writer';

/** Statements that PostgreSQL keeps a plan of, on each connection; those that come later are planned each time. */
const MAX_NAMES = 500;

/**
 * Runs a statement where the manager's own would run: in its transaction, or in that of the current unit of work, or on any
 * connection, and there by its name. TypeORM has no named statements, and takes longer to build one than PostgreSQL to run
 * it.
 * @throws {QueryFailedError} as TypeORM does
 */
export async function runStatement<R extends QueryResultRow>(
  manager: EntityManager,
  text: string,
  values: unknown[],
): Promise<R[]> {
  if (isInTransaction(manager)) return runInTransaction<R>(manager, text, values);
  try {
    return (await poolOf(manager.dataSource).query<R>({ name: nameOf(text), text, values })).rows;
  } catch (error) {
    throw error instanceof DatabaseError ? new QueryFailedError(text, values, error) : error;
  }
}

/** Whether a manager's statements belong to a transaction; elsewhere each goes on any connection. */
export function isInTransaction({ queryRunner, dataSource }: EntityManager): boolean {
  return queryRunner !== undefined || transactionOf(dataSource) !== undefined;
}

async function runInTransaction<R>({ queryRunner, dataSource }: EntityManager, text: string, values: unknown[]) {
  const runner = queryRunner ?? dataSource.createQueryRunner();
  try {
    return (await runner.query(text, values, true)).records as R[];
  } finally {
    if (!queryRunner) await runner.release();
  }
}

/** The column of a check, which is not for whoever asked for the rows. */
const CHECK = 'writer_check';

/**
 * Runs a statement that writes rows, and returns them. One that is a transaction by itself also checks its writer; any other
 * leaves that to the commit, see {@link TransactionCheck}.
 * @param text without its RETURNING
 * @param columns of the rows that it returns
 */
export async function runWrite<R extends QueryResultRow>(
  manager: EntityManager,
  text: string,
  values: unknown[],
  columns = '*',
): Promise<R[]> {
  const writer = isInTransaction(manager) ? undefined : UnitOfWork.current()?.writer;
  if (!writer) return runStatement<R>(manager, `${text} RETURNING ${columns}`, values);
  const all = [...values];
  const checked = `${text} RETURNING ${columns}, ${writerCheck(writer, all)} AS ${CHECK}`;
  const rows = await runStatement<R>(manager, checked, all);
  for (const row of rows) delete row[CHECK];
  return rows;
}

const names = new Map<string, string>();

/** PostgreSQL takes 63 bytes of a name. */
export function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_NAMES) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
}
