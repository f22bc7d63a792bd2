import type { PoolClient } from 'pg';
import { commitsAlone, isCommit } from './statement-kinds';
import type { UnitOfWork } from './unit-of-work';

/** What a pool's client also is. */
export interface Lent extends PoolClient {
  /** The unit of work that holds it. */
  work?: UnitOfWork;
  /** Told when its transaction commits: from then on it waits for nobody's lock. */
  onCommit?: () => void;
}

type Query = (...parameters: unknown[]) => unknown;

/**
 * Has the units of work that hold a connection know when something of theirs is committed. Whether a unit was called off, and
 * that it may be committed from now on, are one step, the one in which the statement goes out: a unit that was called off
 * commits nothing later, and whoever calls off one that doesn't commit yet has undone it.
 */
export function noteCommits(client: Lent): void {
  // Looked up each time: whoever watches statements replaces the method of the class.
  const inherited = Object.getPrototypeOf(client) as { query: Query };
  const noted: Query = (...parameters) => {
    if (client.work) note(client, client.work, textOf(parameters[0]));
    return inherited.query.apply(client, parameters);
  };
  client.query = noted as PoolClient['query'];
}

/** @throws why it was called off */
function note(client: Lent, work: UnitOfWork, text: string): void {
  if (work.cancelled) throw work.cancelled;
  const commits = isCommit(text);
  work.mayBeCommitted ||= commits || (!isInTransaction(client) && commitsAlone(text));
  if (commits) client.onCommit?.();
}

/** Of a connection whose BEGIN is still on its way this is false: one statement too many is taken for a commit. */
function isInTransaction(client: PoolClient): boolean {
  return client.getTransactionStatus() !== 'I';
}

/** Of what the driver takes: a text, its options, or a cursor. What can't be told may write. */
function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text, cursor } = statement as { text?: string; cursor?: { text?: string } };
  return text ?? cursor?.text ?? '';
}
