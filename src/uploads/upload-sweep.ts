import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ApiError, hours, RepeatedJob } from '../platform';
import { ByteStore } from './bytes/byte-store';
import { reportContentGone } from './bytes/content-gone';
import { UploadLocks } from './locks/upload-locks';

/** The schedule of sweeps, in milliseconds. */
export class SweepTimes {
  /**
   * The delay after the start: short, because the last process may not have run for an hour, and random, so that
   * instances don't sweep at once.
   */
  first = 1_000 + Math.random() * 2_000;
  /** The interval between sweeps. */
  interval = hours(1);
}

/** The least age of an orphan in milliseconds: younger bytes may still get their row, and younger rows their bytes. */
const ORPHAN_AGE = hours(1);
const BATCH = 500;

/**
 * Uploads that weren't finished in time, or whose user was deleted more than a day ago and can't be restored. A picture that
 * something else shows stays.
 */
const IS_OVERDUE = `users.id = user_id AND
  ((uploads.status = 'UPLOADING' AND expires_at < now()) OR users.deleted_at < now() - interval '24 hours')
  AND NOT EXISTS (SELECT FROM shown_pictures WHERE image = uploads.key)`;
const OVERDUE = `SELECT uploads.key FROM uploads, users WHERE ${IS_OVERDUE} ORDER BY uploads.id LIMIT ${BATCH}`;
const DELETE_OVERDUE = `DELETE FROM uploads USING users WHERE key = $1 AND ${IS_OVERDUE}`;

/** Without uploads that only have to be finished: a bucket has their bytes as one object. */
const UNFINISHED = `SELECT id, key, "offset" FROM uploads
  WHERE status = 'UPLOADING' AND next_offset IS NULL AND created_at < now() - $1 * interval '1 millisecond' AND id > $2
  ORDER BY id LIMIT ${BATCH}`;
/** What one of them is now: it may have been continued since. */
const STILL_UNFINISHED = `SELECT id, key, "offset" FROM uploads
  WHERE key = $1 AND status = 'UPLOADING' AND next_offset IS NULL`;
const DELETE_UNBORN = `DELETE FROM uploads
  WHERE key = $1 AND status = 'UPLOADING' AND next_offset IS NULL AND "offset" = 0`;

interface Unfinished {
  id: number;
  key: string;
  offset: number;
}

/** Deletes uploads that nobody can finish or reach any more, and bytes without a row, which a crash has left. */
@Injectable()
export class UploadSweep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(UploadSweep.name);
  private readonly job = new RepeatedJob(() => this.sweep());

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly bytes: ByteStore,
    private readonly locks: UploadLocks,
    private readonly times: SweepTimes,
  ) {}

  onApplicationBootstrap(): void {
    const { first, interval } = this.times;
    this.job.begin({ first, interval, logger: this.logger, failure: 'Old uploads were not removed' });
  }

  /** Runs before the connections are closed. The sweep ends after its current upload. */
  beforeApplicationShutdown(): Promise<void> {
    return this.job.end();
  }

  /** Sweeps in one process at a time. Other processes find the lock taken and skip the sweep. */
  async sweep(): Promise<void> {
    try {
      await this.locks.during('sweep', async () => {
        await this.removeOverdue();
        await this.removeUnborn();
        await this.removeOrphans();
        await this.locks.removeStale();
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'LOCKED')) throw error;
    }
  }

  private async removeOverdue(): Promise<void> {
    for (let found = BATCH, removed = 1; found === BATCH && removed > 0;) {
      const rows = await this.database.query<{ key: string }[]>(OVERDUE);
      found = rows.length;
      removed = 0;
      for (const { key } of rows) {
        if (this.job.isEnding) return;
        if (await this.locked(key, () => this.remove(key, DELETE_OVERDUE))) removed++;
      }
    }
  }

  /** Deletes rows whose file was never created because of a crash. Missing bytes of other rows are only reported. */
  private async removeUnborn(): Promise<void> {
    for (let found = BATCH, last = 0; found === BATCH;) {
      const rows = await this.database.query<Unfinished[]>(UNFINISHED, [ORPHAN_AGE, last]);
      found = rows.length;
      last = rows.at(-1)?.id ?? last;
      for (const row of rows) {
        if (this.job.isEnding) return;
        if (await this.hasBytes(row)) continue;
        // The upload may have been finished while the store looked for its bytes. Under the lock nobody writes.
        await this.locked(row.key, () => this.removeIfUnborn(row.key));
      }
    }
  }

  private async removeIfUnborn(key: string): Promise<void> {
    const [row] = await this.database.query<Unfinished[]>(STILL_UNFINISHED, [key]);
    if (!row || (await this.hasBytes(row))) return;
    if (row.offset === 0) await this.remove(key, DELETE_UNBORN);
    else reportContentGone(key);
  }

  private async hasBytes({ key, offset }: Unfinished): Promise<boolean> {
    return (await this.bytes.offsetOf(key, offset)) !== undefined;
  }

  /** Deletes the row if it is still what the statement says, and then the bytes. Returns false if it isn't. */
  private async remove(key: string, statement: string): Promise<boolean> {
    const [, deleted] = await this.database.query<[unknown, number]>(statement, [key]);
    if (deleted > 0) await this.bytes.remove(key);
    return deleted > 0;
  }

  /** Returns undefined if the upload is locked, because a request may be writing to it. */
  private async locked<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.locks.during(key, work);
    } catch (error) {
      this.logger.warn({ err: error }, 'An old upload was not removed');
      return undefined;
    }
  }

  private async removeOrphans(): Promise<void> {
    for await (const key of this.bytes.keysBefore(new Date(Date.now() - ORPHAN_AGE))) {
      if (this.job.isEnding) return;
      const rows = await this.database.query<unknown[]>('SELECT 1 FROM uploads WHERE key = $1', [key]);
      if (rows.length === 0) await this.bytes.remove(key);
    }
  }
}
