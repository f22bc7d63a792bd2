import { Logger } from '@nestjs/common';
import type { PoolConfig, QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { CancellablePool } from '../transactions/cancellable-pool';
import { reasonOf } from '../transactions/connection-error';
import { UnitOfWork } from '../transactions/unit-of-work';
import { beginPositions, lookAtPrimary, numberOf } from './positions';

/** How often the positions of both servers are compared, in milliseconds: at most, and for each time of lag that is allowed. */
const INTERVAL = 1_000;
const LOOKS = 4;
/** The number of positions that are remembered for that time. */
const SAMPLES = 100;
/** The least time between two looks that requests ask for. */
const PAUSE = 20;
/** How long a connection, and a statement, may take before the primary is asked instead. */
const PATIENCE = { connectionTimeoutMillis: 1_000, query_timeout: 2_000, statement_timeout: 2_000 };
/** Errors of a statement, not of the server: a conflict with the replay, for example. Others leave the replica out. */
const OF_STATEMENT = /^(?!08|53|57P|58)[0-9A-Z]{5}$/;

/** A standby that was promoted is no replica any more. */
const LOOK = `SELECT CASE WHEN pg_is_in_recovery() THEN ${numberOf('pg_last_wal_replay_lsn()')} END AS position`;

export interface ReplicaOptions {
  pool: PoolConfig;
  /** How far behind the primary it may be, in milliseconds. */
  maxLag: number;
}

interface Sample {
  at: number;
  /** Where the primary was then. */
  position: number;
}

/**
 * A standby that answers reads, as far as it has replayed what their callers must see. It never makes a read fail: what it can't
 * answer, the primary does.
 */
export class Replica {
  private readonly logger = new Logger('Replica');
  private readonly pool: CancellablePool;
  /** Where the replica is at least. */
  private replayed = -Infinity;
  /** What every read of this process must see. */
  private floor = Infinity;
  /** Whether `floor` has to be found out. */
  private isUnsure = true;
  private samples: Sample[] = [];
  private isIn = false;
  private looking: Promise<void> | undefined;
  private lookedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly options: ReplicaOptions,
  ) {
    this.pool = new CancellablePool({ ...options.pool, ...PATIENCE });
    // The next look finds out.
    this.pool.on('error', () => undefined);
  }

  /** Nobody waits for it: until the first look the primary answers. */
  begin(): void {
    void this.lookSoon();
    this.timer = setInterval(() => void this.lookSoon(), Math.min(INTERVAL, this.options.maxLag / LOOKS)).unref();
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    this.isIn = false;
    await this.looking;
    await this.pool.end();
  }

  /** Whether it shows what was written up to this position. */
  serves(position: number): boolean {
    if (!this.isIn) return false;
    if (this.replayed >= Math.max(position, this.floor)) return true;
    // It may have caught up by the next read.
    void this.lookSoon();
    return false;
  }

  /** Every read of this process must see what was written up to this position. Infinity until the next look. */
  demand(position: number): void {
    this.isUnsure ||= position === Infinity;
    this.floor = Math.max(this.floor, position);
  }

  /** @param fromPrimary reads the same, if the replica doesn't answer */
  async read<R extends object>(
    statement: QueryConfig,
    fromPrimary: () => Promise<QueryResult<R>>,
  ): Promise<QueryResult<R>> {
    try {
      return await UnitOfWork.outside(() => this.pool.queryShared<R>(statement));
    } catch (error) {
      if (!OF_STATEMENT.test((error as { code?: string }).code ?? '')) this.leaveOut(reasonOf(error));
      return fromPrimary();
    }
  }

  private lookSoon(): Promise<void> {
    if (this.looking || performance.now() - this.lookedAt < PAUSE) return Promise.resolve();
    this.looking = this.look()
      .catch((error: unknown) => this.leaveOut(reasonOf(error)))
      .finally(() => {
        this.looking = undefined;
        this.lookedAt = performance.now();
      });
    return this.looking;
  }

  private async look(): Promise<void> {
    if (this.isUnsure) await this.beginAnew();
    const now = performance.now();
    // While the primary is away, the last positions count for as long as the replica may lag.
    const written = await lookAtPrimary(this.database).catch(() => undefined);
    if (written !== undefined) this.remember({ at: now, position: written });
    const { rows } = await UnitOfWork.outside(() => this.pool.query<{ position: number | null }>(LOOK));
    const [{ position }] = rows;
    if (position === null) return this.leaveOut('it is no standby');
    this.replayed = position;
    this.samples = this.samples.filter(({ at }) => now - at <= this.options.maxLag);
    if (this.samples.some((sample) => sample.position <= position)) this.takeIn();
    else this.leaveOut('it lags');
  }

  private async beginAnew(): Promise<void> {
    this.isUnsure = false;
    try {
      const position = await beginPositions(this.database);
      // Unless a write meanwhile couldn't say where it ended.
      if (!this.isUnsure) this.floor = position;
    } catch (error) {
      this.isUnsure = true;
      throw error;
    }
  }

  private remember(sample: Sample): void {
    const last = this.samples.at(-1);
    const isNear = last && sample.at - last.at < this.options.maxLag / SAMPLES;
    if (isNear && last.position !== sample.position) return;
    if (isNear) this.samples.pop();
    this.samples.push(sample);
  }

  private takeIn(): void {
    if (!this.isIn) this.logger.log('The replica answers reads');
    this.isIn = true;
  }

  private leaveOut(reason: string): void {
    if (this.isIn) this.logger.warn(`The replica is left out: ${reason}`);
    this.isIn = false;
    this.replayed = -Infinity;
  }
}
