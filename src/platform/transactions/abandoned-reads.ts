import type { DataSource } from 'typeorm';
import { poolOf } from './cancellable-pool';
import { endBackends } from './end-backends';

/** The interval between two checks, and the least age of an ended read, in milliseconds: most end by themselves before. */
const INTERVAL = 500;

export interface AbandonedReadsOptions {
  database: DataSource;
  databaseUrl: string;
  /** When the oldest unanswered request arrived, by the clock of `performance`. */
  oldestUnanswered: () => number;
  /** Called when a read couldn't be ended. */
  onFailure: (error: unknown) => void;
}

/**
 * Ends shared reads that nobody waits for any more. To record which request waits for which read would cost each
 * request something. But every waiting request arrived before its read began, so a read is abandoned when all older
 * requests are answered or gone. Messages of gateways and jobs share short reads too, for which no request waits: young
 * reads are left alone.
 */
export class AbandonedReads {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: AbandonedReadsOptions) {}

  /** Called when a client has gone, or a request was answered without the read that was begun for it. Checks until no shared read is left. */
  watch(): void {
    this.timer ??= setTimeout(() => this.look(), INTERVAL).unref();
  }

  private look(): void {
    this.timer = undefined;
    const { database, databaseUrl, oldestUnanswered, onFailure } = this.options;
    if (!database.isInitialized) return;
    const pool = poolOf(database);
    if (!pool.sharesReads) return;
    const moment = Math.min(oldestUnanswered(), performance.now() - INTERVAL);
    void endBackends(pool.sharedBefore(moment), databaseUrl, onFailure);
    this.watch();
  }
}
