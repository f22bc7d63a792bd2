import DataLoader from 'dataloader';
import type { QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { replicaFor } from '../replica/reading';
import type { Replica } from '../replica/replica';
import { poolOf } from '../transactions/cancellable-pool';
import { anyNumberOf } from './any-number-of';
import { BatchPace } from './batch-pace';
import { copyOf } from './copy';
import { UnitOfWork } from '../transactions/unit-of-work';

/** The number of keys in one statement. More keys take another statement. */
const MAX_BATCH = 100;

/** SQL for the keys of a {@link BatchedRead}. @param type of one key */
export const keysOf = (type: string): string => anyNumberOf(type, '$1');

export interface BatchedReadOptions {
  /** Whether a replica may answer, which never knows of a right that was just withdrawn. Default: false */
  byReplica?: boolean;
}

/**
 * A named statement that serves several requests at once: those that arrive before it begins, in its {@link BatchPace}. The
 * statement starts after their arrival, and each gets a row of its own. Nothing is cached. Only for requests: a read
 * that no request waits for is ended. With 32 connections it replaces about six statements, and a statement costs more
 * than all the rest of a simple read.
 */
export class BatchedRead<K, R> {
  private readonly loaders = new WeakMap<DataSource | Replica, DataLoader<K, R | undefined>>();

  /**
   * @param text the statement, with the list of keys as {@link keysOf}
   * @param keyOf the key of a row
   */
  constructor(
    private readonly name: string | undefined,
    private readonly text: string,
    private readonly keyOf: (row: R) => K,
    private readonly options: BatchedReadOptions = {},
  ) {}

  /** The row of a key; undefined if there is none. */
  read(database: DataSource, key: K): Promise<R | undefined> {
    const replica = this.options.byReplica ? replicaFor(database) : undefined;
    const server = replica ?? database;
    let loader = this.loaders.get(server);
    if (!loader) this.loaders.set(server, (loader = this.loaderOf(database, replica)));
    return loader.load(key);
  }

  private loaderOf(database: DataSource, replica: Replica | undefined): DataLoader<K, R | undefined> {
    const pace = new BatchPace();
    const read = (keys: readonly K[]) =>
      UnitOfWork.outside(() => pace.run(() => this.readAll(database, replica, keys)));
    return new DataLoader(read, {
      cache: false,
      maxBatchSize: MAX_BATCH,
      batchScheduleFn: (begin) => pace.schedule(begin),
    });
  }

  private async readAll(
    database: DataSource,
    replica: Replica | undefined,
    keys: readonly K[],
  ): Promise<(R | undefined)[]> {
    // TypeORM has no named statements, so PostgreSQL would parse and plan each one anew.
    const distinct = new Set(keys);
    const statement: QueryConfig = { name: this.name, text: this.text, values: [[...distinct]] };
    const fromPrimary = () => poolOf(database).queryShared(statement);
    const { rows } = await (replica ? replica.read(statement, fromPrimary) : fromPrimary());
    const found = new Map((rows as R[]).map((row) => [this.keyOf(row), row]));
    return keys.map((key) => {
      const row = found.get(key);
      // The first caller gets the row itself, others get copies.
      return distinct.delete(key) ? row : copyOf(row);
    });
  }
}
