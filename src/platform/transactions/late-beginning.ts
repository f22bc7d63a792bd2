import type { PoolClient } from 'pg';
import { BEGIN } from './audit-context';
import type { Statement } from './statement-group';

/** PostgreSQL's states of a connection: in no transaction, and in one in which a statement has failed. */
const IDLE = 'I';
export const FAILED = 'E';

/** A connection that keeps statements until the next one takes them along. */
interface Waiting extends PoolClient {
  ahead?: Statement[];
}

/** What node-postgres returns for a statement that has no rows. */
const resultOf = (command: string) => ({ command, rowCount: null, oid: null, fields: [], rows: [] });

/**
 * Lets the first statement of a transaction take its beginning along, which saves a round trip. Until then the connection is
 * in no transaction, so it can't be idle in one.
 * @param text what TypeORM sends, and maybe `SET LOCAL`
 * @returns the result of the beginning; undefined for another text
 */
export function beginLate(client: PoolClient, text: unknown): Promise<unknown> | undefined {
  if (typeof text !== 'string' || !text.startsWith(BEGIN)) return undefined;
  const rest = text.slice(BEGIN.length);
  if (rest !== '' && !rest.startsWith('; SET LOCAL ')) return undefined;
  const settings = rest === '' ? [] : [{ text: rest.slice('; '.length) }];
  ((client as Waiting).ahead ??= []).push({ text: BEGIN }, ...settings);
  return Promise.resolve(resultOf('START'));
}

/**
 * Drops a transaction whose beginning hasn't been sent. PostgreSQL would warn of a ROLLBACK without a transaction.
 * @returns the result of the ROLLBACK; undefined if there is no such beginning
 */
export function dropBeginning(client: PoolClient): Promise<unknown> | undefined {
  if (!willBegin(client)) return undefined;
  (client as Waiting).ahead = undefined;
  return Promise.resolve(resultOf('ROLLBACK'));
}

/** Whether a connection is in a transaction, or its next statement begins one. */
export function isInTransaction(client: PoolClient): boolean {
  // A connection that has run no statement has no status.
  return (client.getTransactionStatus() ?? IDLE) !== IDLE || willBegin(client);
}

/** Whether a connection is in a transaction in which nothing has failed, or its next statement begins one. */
export function canBeCommitted(client: PoolClient | undefined): boolean {
  return client !== undefined && isInTransaction(client) && client.getTransactionStatus() !== FAILED;
}

function willBegin(client: PoolClient): boolean {
  return (client as Waiting).ahead?.some(({ text }) => text === BEGIN) ?? false;
}
