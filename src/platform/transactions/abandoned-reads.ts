import type { DataSource } from 'typeorm';
import { endBackends, poolOf } from './cancellable-pool';

/** How often to look, in milliseconds: most reads end by themselves before. */
const INTERVAL = 500;

export interface AbandonedReadsOptions {
  database: DataSource;
  databaseUrl: string;
  /** When the oldest request arrived that is still to be answered, by the clock of `performance`. */
  oldestUnanswered: () => number;
  /** Told when a read could not be ended. */
  onFailure: (error: unknown) => void;
}

/**
 * Ends reads that requests share when nobody waits for them any more. Nobody knows who waits for which, and to know it would
 * cost each request something; but whoever does had arrived before the read began. So a read is abandoned when all requests
 * that are older have been answered, or have gone.
 */
export class AbandonedReads {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: AbandonedReadsOptions) {}

  /** A client has gone: looks for what it leaves, from now on until no shared read is left. */
  watch(): void {
    this.timer ??= setTimeout(() => this.look(), INTERVAL).unref();
  }

  private look(): void {
    this.timer = undefined;
    const { database, databaseUrl, oldestUnanswered, onFailure } = this.options;
    if (!database.isInitialized) return;
    const pool = poolOf(database);
    if (!pool.sharesReads) return;
    void endBackends(pool.sharedBefore(oldestUnanswered()), databaseUrl, onFailure);
    this.watch();
  }
}
