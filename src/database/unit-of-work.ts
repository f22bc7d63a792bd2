import { AsyncLocalStorage } from 'node:async_hooks';
import type { PoolClient } from 'pg';

/** What one request does in the database: the connections that it holds now, so that all of it can be called off. */
export class UnitOfWork {
  private readonly clients = new Set<PoolClient>();
  private error?: Error;

  /** Runs `work` so that {@link UnitOfWork.current} finds this unit in everything that it starts. */
  run<T>(work: () => T): T {
    return storage.run(this, work);
  }

  static current(): UnitOfWork | undefined {
    return storage.getStore();
  }

  /** Why it was called off; undefined while it goes on. */
  get cancelled(): Error | undefined {
    return this.error;
  }

  /** Ends it: no statement of it runs on or starts from now on. Returns the connections that it held. */
  cancel(reason: Error): PoolClient[] {
    this.error = reason;
    return [...this.clients];
  }

  hold(client: PoolClient): void {
    this.clients.add(client);
  }

  release(client: PoolClient): void {
    this.clients.delete(client);
  }
}

const storage = new AsyncLocalStorage<UnitOfWork>();
