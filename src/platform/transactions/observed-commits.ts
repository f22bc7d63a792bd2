import type { PoolClient } from 'pg';
import { commitsAlone, isCommit } from './statement-kinds';
import { byName } from './statement-names';
import type { UnitOfWork } from './unit-of-work';

/** The additional properties of a pool's client. */
export interface LentClient extends PoolClient {
  /** The unit of work that holds the client. */
  work?: UnitOfWork;
  /** Called when its transaction commits: it waits for no lock after that. */
  onCommit?: () => void;
}

type Query = (...parameters: unknown[]) => unknown;

/**
 * Records in the unit of work when one of its connections commits. The check whether the unit was cancelled, and the
 * mark that it may be committed, happen in one step, when the statement is sent. So a cancelled unit commits nothing
 * later, and a unit that is cancelled before it commits is undone. Usual statements are sent by their names.
 */
export function observeCommits(client: LentClient): void {
  // Looked up for each statement, because code that watches statements replaces the class's method.
  const inherited = Object.getPrototypeOf(client) as { query: Query };
  const noted: Query = (statement, values, ...others) => {
    if (client.work) note(client, client.work, textOf(statement));
    return inherited.query.call(client, byName(statement, values), values, ...others);
  };
  client.query = noted as PoolClient['query'];
}

/** @throws the reason why the unit was cancelled */
function note(client: LentClient, work: UnitOfWork, text: string): void {
  if (work.cancelled) throw work.cancelled;
  const commits = isCommit(text);
  work.mayBeCommitted ||= commits || (!isInTransaction(client) && commitsAlone(text));
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
