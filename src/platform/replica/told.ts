import type { DataSource } from 'typeorm';
import { isWriter, type Writer } from '../transactions/writer';
import { recordTold } from './positions';
import { replicaOf } from './reading';

/** Users who are about to be told, and when their positions are recorded. */
interface Batch {
  users: Set<number>;
  recorded: Promise<void>;
}

const batches = new WeakMap<DataSource, Batch>();

/**
 * To be awaited before a user is told what others have written: its next read then shows that, too, whoever answers it. Thousands
 * who are told at once cost one statement. Undefined if there is no replica, and nothing to wait for.
 */
export function beforeTelling(database: DataSource, user: Writer): Promise<void> | undefined {
  const replica = replicaOf(database);
  // The primary answers all reads of other callers.
  if (!replica || !isWriter(user)) return undefined;
  let batch = batches.get(database);
  if (!batch) {
    const users = new Set<number>();
    const record = async () => {
      await new Promise(setImmediate);
      batches.delete(database);
      await recordTold(database, [...users]).catch(() => replica.demand(Infinity));
    };
    batches.set(database, (batch = { users, recorded: record() }));
  }
  batch.users.add(user.id);
  return batch.recorded;
}
