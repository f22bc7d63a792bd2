import type { PoolClient, QueryResult } from 'pg';
import type { Frame } from './frame';
import { sendAhead } from './observed-commits';
import { mayWrite, nameOfStatement, setsAlone, setsLocally } from './statement-kinds';
import { isInFailed, Refusal } from './transaction-refusals';

/** Runs a statement in a frame of others, so that its failure does not affect the transaction. */
export async function runAlone(
  client: PoolClient,
  frame: Frame,
  text: string,
  values?: unknown[],
): Promise<QueryResult> {
  const isSetting = setsLocally(text);
  // What it writes beside would be undone together with the setting.
  if (isSetting && !setsAlone(text)) throw Refusal.setting();
  try {
    sendAhead(client, ...frame.newMark());
    const result = await client.query(text, values);
    if (!frame.takesAll && mayWrite(text)) frame.strange ??= nameOfStatement(text);
    // SET LOCAL lasts no longer than the statement.
    if (isSetting) await client.query(`ROLLBACK TO SAVEPOINT ${frame.mark}`);
    return result;
  } catch (error) {
    // In a transaction that had failed before, the mark is that of an earlier statement: what was written since would be lost.
    if (frame.marked && !isInFailed(error)) {
      await client.query(`ROLLBACK TO SAVEPOINT ${frame.mark}`).catch(() => undefined);
    }
    throw error;
  }
}
