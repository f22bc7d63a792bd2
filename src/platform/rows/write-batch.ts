import { DatabaseError, type PoolClient, type QueryResultRow } from 'pg';
import { QueryFailedError } from 'typeorm';
import type { CancellablePool } from '../transactions/cancellable-pool';
import { nameOf } from '../transactions/statement-names';
import { UnitOfWork } from '../transactions/unit-of-work';
import { seconds } from '../units';
import { SEVERAL_WRITERS } from './audit-function';
import type { BatchedRow, BatchedStatement } from './batched-statement';

/**
 * The number of rows in one statement. Of larger ones PostgreSQL and the service would take turns: one works while the other
 * waits.
 */
const MAX_ROWS = 16;
/** The number of waiting rows from which the next statement begins before the outcomes of the one before are told. Fewer wait for others. */
const ENOUGH = MAX_ROWS / 2;
/**
 * The number of statements of a batch that run at once. Rows that come meanwhile are written by the next one: two would
 * write half as many rows each (D-304).
 */
const MAX_RUNNING = 1;
/** The number of rows that wait for a statement. Further ones are written alone. */
const MAX_WAITING = 32;
/** The part of a pool's connections beyond which no further batch begins. */
const OF_POOL = 1 / 3;
/** How long rows are written alone after a statement has failed: one caller could make all of them fail. */
const PAUSE = seconds(1);
/** How long a statement may run before further rows are written alone, in milliseconds: it may have lost its server. */
const USUAL = 200;
/**
 * Classes of SQLSTATE that don't say that the statement was undone for its rows: those of connections, resources, operators and
 * the system. PgBouncer tells of a lost server by 08P01.
 */
const OTHER_REASONS = /^(?:08|53|57|58|F0|XX)/;

/** The row was not written, and is to be written alone. */
export const ALONE = Symbol('alone');

/** The row; undefined if there is none, or it has another version. */
export type Outcome = QueryResultRow | undefined | typeof ALONE;

/** A row, and the unit of work that writes it. */
export interface Asked extends BatchedRow {
  unit: UnitOfWork;
}

interface Asker extends Asked {
  resolve: (outcome: Outcome) => void;
  reject: (reason: unknown) => void;
}

/** The number of batches' statements that run on a pool. */
const running = new WeakMap<CancellablePool, number>();

/** The rows of an entity that requests write to the same columns at this moment. */
export class WriteBatch {
  private waiting: Asker[] = [];
  /** When the running statements began, by the clock of `performance`. */
  private readonly begun: number[] = [];
  /** Until when rows are written alone, by the clock of `performance`. */
  private pausedUntil = -Infinity;

  constructor(
    private readonly pool: CancellablePool,
    private readonly statement: BatchedStatement,
  ) {}

  /** False if a row had better be written alone. */
  get isOpen(): boolean {
    const now = performance.now();
    const isLate = this.begun.length > 0 && now - this.begun[0] > USUAL;
    return now >= this.pausedUntil && !isLate && this.waiting.length < MAX_WAITING && this.mayBegin;
  }

  get isIdle(): boolean {
    return this.begun.length === 0 && this.waiting.length === 0;
  }

  /** False where connections are short: then callers take turns. */
  private get mayBegin(): boolean {
    const { pool } = this;
    const isPossible = (running.get(pool) ?? 0) < (pool.options.max ?? 0) * OF_POOL || this.begun.length > 0;
    return isPossible && !pool.turns?.waiting;
  }

  /** Has a row written by the next statement. */
  join(asked: Asked): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...asked, resolve, reject });
      if (this.waiting.length === 1) this.beginSoon();
    });
  }

  /** The rows that come in the same turn of the event loop are written as well. */
  private beginSoon(): void {
    setImmediate(() => this.beginNow());
  }

  private beginNow(): void {
    while (this.waiting.length > 0 && this.begun.length < MAX_RUNNING) this.begin(this.waiting.splice(0, MAX_ROWS));
  }

  private begin(askers: Asker[]): void {
    if (askers.length === 1 || !this.mayBegin) for (const { resolve } of askers) resolve(ALONE);
    else void UnitOfWork.outside(() => this.write(askers));
  }

  private async write(askers: Asker[]): Promise<void> {
    const now = performance.now();
    this.begun.push(now);
    this.count(1);
    const tell = await this.outcomesOf(askers);
    this.begun.splice(this.begun.indexOf(now), 1);
    this.count(-1);
    if (this.waiting.length >= ENOUGH) this.beginNow();
    else if (this.waiting.length > 0) this.beginSoon();
    // PostgreSQL runs the next statement while the answers of this one are made.
    process.nextTick(tell);
  }

  /** Runs the statement. @returns tells each row's asker its outcome */
  private async outcomesOf(askers: Asker[]): Promise<() => void> {
    const client = await this.pool.lendShared().catch(() => undefined);
    // Each asks for a connection itself, in its turn.
    if (!client) return () => askers.forEach(({ resolve }) => resolve(ALONE));
    const rows = askers.filter(isWanted);
    try {
      const outcomes = await this.run(client, rows);
      return () => rows.forEach(({ resolve }, index) => resolve(outcomes[index]));
    } catch (error) {
      return () => rows.forEach(({ reject }) => reject(error));
    }
  }

  private count(more: number): void {
    running.set(this.pool, (running.get(this.pool) ?? 0) + more);
  }

  /** Runs the statement, and gives the connection back. */
  private async run(client: PoolClient, rows: Asker[]): Promise<Outcome[]> {
    const { text } = this.statement;
    let isUsable = true;
    for (const { unit } of rows) (unit.shared ??= new Set()).add(client);
    try {
      if (rows.length === 0) return [];
      const values = this.statement.valuesFor(rows);
      const written = await client.query<QueryResultRow>({ name: nameOf(text), text, values });
      return this.statement.rowsFor(rows, written.rows);
    } catch (error) {
      if (isOfARow(error)) {
        this.pause(error);
        return rows.map(() => ALONE);
      }
      isUsable = false;
      // Without the values, which are those of several requests.
      throw error instanceof DatabaseError ? new QueryFailedError(text, [], error) : error;
    } finally {
      for (const { unit } of rows) unit.shared!.delete(client);
      client.release(!isUsable);
    }
  }

  private pause({ code }: DatabaseError): void {
    this.pausedUntil = code === SEVERAL_WRITERS ? Infinity : performance.now() + PAUSE;
  }
}

/** Rejects a row of a cancelled unit. Others may be committed from now on: they are sent in the same step. */
function isWanted({ unit, reject }: Asker): boolean {
  if (unit.cancelled) reject(unit.cancelled);
  else unit.mayBeCommitted = true;
  return !unit.cancelled;
}

/** Whether the statement was undone for what it has written, and its connection remains. Nothing else may be repeated. */
function isOfARow(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code !== undefined && !OTHER_REASONS.test(error.code);
}
