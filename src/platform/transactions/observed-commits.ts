import type { PoolClient, QueryResult } from 'pg';
import { DescribedQuery } from './described-query';
import { PooledClient, sendable } from './pooled-client';
import { type Statement, StatementGroup } from './statement-group';
import { commitsAlone, isCommit } from './statement-kinds';
import { byName } from './statement-names';
import { statementsOf } from './statements-of';
import { Refusal } from './transaction-refusals';

/** What a {@link UnitOfWork} is here, whose transaction imports this file. */
interface Unit {
  readonly cancelled: Error | undefined;
  mayBeCommitted: boolean;
}

/** The additional properties of a pool's client. */
export interface LentClient extends PoolClient {
  /** The unit of work that holds the client. */
  work?: Unit;
  /** Called when its transaction commits: it waits for no lock after that. */
  onCommit?: () => void;
  /** Statements that the next one takes along. */
  ahead?: Statement[];
  /** Whether usual statements are sent by their names. */
  names?: boolean;
  /** The query runner that has it, which is told of each statement when that is sent. */
  runner?: { noteSent: (text: string) => void };
}

type Query = (...parameters: unknown[]) => unknown;
type Callback = (error: Error | undefined, result: unknown) => void;

const nothing = (): void => undefined;

/**
 * Records in the unit of work when one of its connections commits. The check whether the unit was cancelled, and the
 * mark that it may be committed, happen in one step, when the statement is sent. So a cancelled unit commits nothing
 * later, and a unit that is cancelled before it commits is undone. Usual statements are sent by their names.
 */
export function observeCommits(client: LentClient): void {
  const noted: Query = (statement, values, ...others) => {
    const ahead = takeAhead(client, statement);
    const before = withValues.get(values as object);
    if (before) ahead.push(before);
    const alone = () => sendAlone(client, statement, values, ...others);
    if (ahead.length === 0) return alone();
    if (isOne(statement, values, others)) {
      const last = named(client, statement as string, values as unknown[] | undefined);
      return send(client, [...ahead, last]).then((results) => {
        const result = results.at(-1);
        if (isUndone(statement, result)) throw Refusal.failed();
        return result;
      });
    }
    const sent = send(client, ahead);
    sent.catch(nothing);
    // At once, so that no other statement comes between. In a transaction it fails if one of those before it does.
    const result = alone();
    if (typeof statement === 'string' && typeof values !== 'function') {
      return Promise.all([sent, result]).then(([, last]) => last);
    }
    return result;
  };
  client.query = noted as PoolClient['query'];
}

/**
 * Sends statements of a transaction in one message with the next one: without a round trip of their own. If one of them
 * fails, the next one isn't run, and fails with its error. A ROLLBACK drops them.
 */
export function sendAhead(client: PoolClient, ...statements: Statement[]): void {
  ((client as LentClient).ahead ??= []).push(...statements);
}

/** What goes before the statement that has these values. */
const withValues = new WeakMap<object, Statement>();

/**
 * Sends a statement of a transaction in one message with the one that has these values, and with no other, whenever that is sent.
 * @param values an array that nothing else is sent with
 */
export function sendWith(values: unknown[], statement: Statement): void {
  withValues.set(values, statement);
}

/** Runs statements of a transaction in one message. None is run after one that fails, whose error is thrown. */
export async function sendTogether(client: PoolClient, statements: Statement[]): Promise<QueryResult[]> {
  const ahead = takeAhead(client);
  return (await send(client, [...ahead, ...statements])).slice(ahead.length);
}

function takeAhead(client: LentClient, statement?: unknown): Statement[] {
  const { ahead = [] } = client;
  client.ahead = undefined;
  return statement === 'ROLLBACK' ? [] : ahead;
}

/** Whether a statement is one text, and awaited: several are another kind of message, and a cursor sends its own. */
function isOne(statement: unknown, values: unknown, others: unknown[]): boolean {
  if (typeof statement !== 'string' || typeof values === 'function' || others.length > 0) return false;
  return !statement.includes(';') || (Array.isArray(values) && values.length > 0);
}

function named(client: LentClient, text: string, values: unknown[] | undefined): Statement {
  const statement = client.names ? byName(text, values) : text;
  return typeof statement === 'string' ? { text, values } : { ...(statement as Statement), values };
}

async function send(client: LentClient, statements: Statement[]): Promise<QueryResult[]> {
  if (client instanceof PooledClient) return sendAtOnce(client, statements);
  tell(
    client,
    statements.map(({ text }) => text),
  );
  return new Promise((resolve, reject) => {
    const onEnd = (error: Error | undefined, results: QueryResult[]) => (error ? reject(error) : resolve(results));
    inherited(client).call(client, new StatementGroup(statements), onEnd);
  });
}

/** A pooler's client sends statements in its own way, and all at once, so that no other statement comes between. */
function sendAtOnce(client: LentClient, statements: Statement[]): Promise<QueryResult[]> {
  const sent = sendable(statements).map(({ text, values }) => sendAlone(client, text, values));
  return Promise.all(sent as Promise<QueryResult>[]);
}

function sendAlone(client: LentClient, statement: unknown, values: unknown, ...others: unknown[]): unknown {
  tell(client, [textOf(statement)]);
  const given = client.names ? byName(statement, values) : statement;
  const query = client instanceof PooledClient ? undefined : DescribedQuery.of(given, values);
  const parameters = query ? [query] : [given, values];
  if (hasCallback(statement, values, ...others)) return inherited(client).call(client, ...parameters, ...others);
  return promised(statement, (callback) => inherited(client).call(client, ...parameters, callback));
}

/** Whether the driver returns no promise: there is a callback, or the statement tells of its rows itself, as a cursor does. */
function hasCallback(statement: unknown, ...others: unknown[]): boolean {
  const { submit, callback } = statement as { submit?: unknown; callback?: unknown };
  return [submit, callback, ...others].some((one) => typeof one === 'function');
}

/** PostgreSQL answers the COMMIT of a transaction in which a statement had failed by undoing it, which is no error. */
function isUndone(statement: unknown, result: unknown): boolean {
  const { command } = result as QueryResult;
  if (typeof command === 'string' && command !== 'ROLLBACK') return false;
  const statements = statementsOf(textOf(statement));
  const results = [result].flat() as QueryResult[];
  return results.some((one, index) => one.command === 'ROLLBACK' && isCommit(statements[index] ?? ''));
}

/**
 * What the driver does for a statement without a callback. The driver assigns its callback to a property at once, so V8
 * allocates it in the old generation, with the rows and the request that wait for it.
 */
function promised(statement: unknown, ask: (callback: Callback) => unknown): Promise<unknown> {
  const result = new Promise((resolve, reject) => {
    ask((error, rows) => {
      if (error) reject(error);
      else if (isUndone(statement, rows)) reject(Refusal.failed());
      else resolve(rows);
    });
  });
  return result.catch((error: Error) => {
    // From here the stack leads to the caller instead of the socket.
    Error.captureStackTrace(error);
    throw error;
  });
}

/** Looked up for each statement, because code that watches statements replaces the class's method. */
const inherited = (client: PoolClient): Query => (Object.getPrototypeOf(client) as { query: Query }).query;

/** @throws the reason why the unit was cancelled */
function tell(client: LentClient, texts: string[]): void {
  if (client.work) note(client, client.work, texts);
  for (const text of texts) client.runner?.noteSent(text);
}

function note(client: LentClient, work: Unit, texts: string[]): void {
  if (work.cancelled) throw work.cancelled;
  const commits = texts.some(isCommit);
  // Several in one message belong to a transaction, whose beginning may be among them.
  const isAlone = texts.length === 1 && !isInTransaction(client);
  work.mayBeCommitted ||= commits || (isAlone && commitsAlone(texts[0]));
  if (commits) client.onCommit?.();
}

/** While BEGIN is under way this is false: then a statement may wrongly be taken for a commit, which is harmless. */
function isInTransaction(client: PoolClient): boolean {
  return client.getTransactionStatus() !== 'I';
}

/**
 * The text of a statement, which the driver takes as text, options or a cursor. Without a text it counts as a write.
 */
function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text, cursor } = statement as { text?: string; cursor?: { text?: string } };
  return text ?? cursor?.text ?? '';
}
