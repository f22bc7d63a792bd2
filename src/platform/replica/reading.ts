import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';
import { counter } from '../signals/measure';
import { seconds } from '../units';
import type { Replica } from './replica';

/** A request that reads. */
interface Reading {
  /** What the read must see: the position of the caller's last write. */
  position: number;
  /** Until when that is all, by the clock of `performance`: the caller of a stream may write while it lasts. */
  until: number;
}

const LONGEST = seconds(5);

const reads = counter(
  'api_replica_reads_total',
  'Reads that a replica may answer, by the server that has answered.',
  ['server'],
  ['replica', 'primary'].map((server) => ({ server })),
);

// Nothing runs in it without a replica, and then it costs nothing.
const readings = new AsyncLocalStorage<Reading>();
const replicas = new WeakMap<DataSource, Replica>();

/** Lets reads of this database go to a replica; see {@link readingUpTo}. */
export const addReplica = (database: DataSource, replica: Replica): void => void replicas.set(database, replica);

export const replicaOf = (database: DataSource): Replica | undefined => replicas.get(database);

/** Runs `work`, whose reads may be answered by a replica that shows what was written up to this position. */
export const readingUpTo = <T>(position: number, work: () => T): T =>
  readings.run({ position, until: performance.now() + LONGEST }, work);

/** The replica that may answer a read of the current flow; undefined if the primary must. */
export function replicaFor(database: DataSource): Replica | undefined {
  const asked = askedFor(database);
  if (!asked) return undefined;
  reads.add({ server: asked.isShown ? 'replica' : 'primary' });
  return asked.isShown ? asked.replica : undefined;
}

/** Whether a replica would answer a read of the current flow. */
export const isReadFromReplica = (database: DataSource): boolean => askedFor(database)?.isShown ?? false;

/** The replica that is asked, and whether it shows what the current flow must see. */
function askedFor(database: DataSource): { replica: Replica; isShown: boolean } | undefined {
  const reading = readings.getStore();
  const replica = reading && replicas.get(database);
  if (!replica || performance.now() > reading.until) return undefined;
  return { replica, isShown: replica.serves(reading.position) };
}
