import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { seconds, UnitOfWork } from '../../platform';
import type { LockKeeper } from './lock-keeper';

/** How long a lock outlives its process, in seconds. */
const LEASE = 10;
/** The interval between two renewals, in milliseconds. Two may fail, e.g. while a standby becomes the primary. */
const RENEWAL = seconds(3);
/** When a holder stops that couldn't renew its lease, in milliseconds since the last renewal: before others may begin. */
const LAST = seconds(LEASE - 1);

const UNTIL = `clock_timestamp() + interval '${LEASE} seconds'`;
const TAKE = `INSERT INTO upload_leases AS known (key, holder, expires_at) VALUES ($1, $2, ${UNTIL})
  ON CONFLICT (key) DO UPDATE SET holder = $2, expires_at = ${UNTIL} WHERE known.expires_at < clock_timestamp()
  RETURNING key`;
const RENEW = `UPDATE upload_leases SET expires_at = ${UNTIL} WHERE holder = $1 AND key = ANY ($2) RETURNING key`;
const RELEASE = 'DELETE FROM upload_leases WHERE key = $1 AND holder = $2';
const SWEEP = `DELETE FROM upload_leases WHERE expires_at < clock_timestamp() - interval '1 hour'`;

interface Held {
  onLost: () => void;
  /** When the lease was certain last, by the clock of `performance`. */
  renewedAt: number;
}

/**
 * Rows that say until when a process has a lock, for a database behind a pooler: no connection there belongs to one
 * process. The clock of the database decides, so those of the instances may differ.
 */
export class LeasedLocks implements LockKeeper {
  private readonly logger = new Logger(LeasedLocks.name);
  private readonly holder = randomUUID();
  private readonly held = new Map<string, Held>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: DataSource) {}

  async take(key: string, onLost: () => void): Promise<boolean> {
    const renewedAt = performance.now();
    if ((await this.query(TAKE, [key, this.holder])).length === 0) return false;
    this.held.set(key, { onLost, renewedAt });
    this.timer ??= setInterval(() => void this.renew(), RENEWAL).unref();
    return true;
  }

  async release(key: string): Promise<void> {
    this.forget(key);
    try {
      await this.query(RELEASE, [key, this.holder]);
    } catch (error) {
      this.logger.warn({ err: error }, `A lock ends by itself in ${LEASE} seconds`);
    }
  }

  expectEnd(): void {
    // Uploads that run are still stored, so their leases are still renewed.
  }

  async removeStale(): Promise<void> {
    await this.query(SWEEP, []);
  }

  close(): Promise<void> {
    clearInterval(this.timer);
    return Promise.resolve();
  }

  private async renew(): Promise<void> {
    const now = performance.now();
    const all = [...this.held];
    try {
      const rows = await this.query(RENEW, [this.holder, all.map(([key]) => key)]);
      const renewed = new Set(rows.map(({ key }) => key));
      for (const [key, held] of all) held.renewedAt = renewed.has(key) ? now : -Infinity;
    } catch (error) {
      this.logger.warn({ err: error }, 'The locks of uploads were not renewed');
    }
    // By the next renewal it would be too late.
    for (const [key, held] of all) if (now + RENEWAL > held.renewedAt + LAST) this.lose(key, held);
  }

  private lose(key: string, held: Held): void {
    // Given back meanwhile, and perhaps taken again.
    if (this.held.get(key) !== held) return;
    this.forget(key);
    held.onLost();
  }

  private forget(key: string): void {
    this.held.delete(key);
    if (this.held.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Outside of the request's unit of work: a lock must be given back after the request's time limit, too. */
  private query(text: string, values: unknown[]): Promise<{ key: string }[]> {
    return UnitOfWork.outside(async () => {
      const runner = this.database.createQueryRunner();
      try {
        return (await runner.query(text, values, true)).records as { key: string }[];
      } finally {
        await runner.release();
      }
    });
  }
}
