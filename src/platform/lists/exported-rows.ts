import type { Response } from 'express';
import type { EntityManager, ObjectLiteral, QueryRunner } from 'typeorm';
import { breakOff } from '../exports/break-off';
import { ApiError } from '../errors/api-error';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { timeOuts } from '../signals/operations';
import { seconds } from '../units';
import { type ExportPlace, ExportPlaces } from './export-places';

/** How often the caller is looked up again, in milliseconds. */
const CONFIRM_EVERY = seconds(2);
/** The part of the rows for which PostgreSQL plans: the first ones should come at once, whatever all of them take. */
const PLANNED_PART = 0.01;

/** What is read, and how rows are made of the result of each step. */
export interface ExportedQuery<E> {
  text: string;
  values: unknown[];
  /** The number of rows of a step. */
  step: number;
  /** The time limit of a step in milliseconds. Default: that of every statement */
  limit?: number;
  make: (raw: ObjectLiteral[], manager: EntityManager) => Promise<E[]>;
}

/**
 * The rows of a whole list, read step by step from a cursor of the database, of one snapshot. They hold a connection until
 * the last row was read, the answer is over, or EXPORT_TIMEOUT.
 */
export class ExportedRows<E> {
  private isOver = false;
  private timers: NodeJS.Timeout[] = [];

  private constructor(
    private readonly runner: QueryRunner,
    private readonly query: ExportedQuery<E>,
    private readonly response: Response,
    private readonly place: ExportPlace,
  ) {}

  /**
   * Begins, and reads the first rows.
   * @param confirm looks the caller up again
   * @throws {ApiError} SERVICE_UNAVAILABLE when too many exports run
   */
  static async open<E>(
    { dataSource }: EntityManager,
    work: UnitOfWork,
    query: ExportedQuery<E>,
    confirm?: () => Promise<void>,
  ): Promise<{ first: E[]; rest: AsyncIterable<E[]> }> {
    const places = ExportPlaces.of(dataSource);
    const response = work.origin!.res as unknown as Response;
    const runner = dataSource.createQueryRunner();
    const rows = new ExportedRows(runner, query, response, places.take(work));
    try {
      const connect = () => runner.connect() as Promise<unknown>;
      await (hasOwnPool(dataSource) ? poolOf(dataSource).connectingFor(work, connect) : connect());
      const first = await rows.begin(places.settings.EXPORT_TIMEOUT);
      rows.watch(places.settings.EXPORT_TIMEOUT, confirm);
      return { first, rest: rows.rest() };
    } catch (error) {
      await rows.close();
      throw error;
    }
  }

  /** Just-in-time compilation would take longer than the first rows. */
  private async begin(patience: number): Promise<E[]> {
    const { text, values, limit } = this.query;
    await this.runner.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off;
       SET LOCAL cursor_tuple_fraction = ${PLANNED_PART};
       SET LOCAL idle_in_transaction_session_timeout = ${patience};
       ${limit === undefined ? '' : `SET LOCAL statement_timeout = ${limit}`}`,
    );
    await this.runner.query(`DECLARE exported NO SCROLL CURSOR FOR ${text}`, values);
    return this.next();
  }

  private async *rest(): AsyncGenerator<E[]> {
    try {
      while (!this.isOver) yield await this.next();
    } finally {
      await this.close();
    }
  }

  /** The next rows. After the last one the connection is given back at once, not only when they were sent. */
  private async next(): Promise<E[]> {
    const { step, make } = this.query;
    const { records } = await this.runner.query(`FETCH ${step} FROM exported`, undefined, true);
    const { length } = records;
    const rows = await make(records as ObjectLiteral[], this.runner.manager);
    // What the driver keeps of earlier steps must not keep their rows, see docs/performance.md.
    records.length = 0;
    if (length < step) await this.close();
    return rows;
  }

  /** Ends the export with its answer, when its time is up, and when its caller may no longer read. */
  private watch(patience: number, confirm?: () => Promise<void>): void {
    if (this.isOver) return;
    const end = (reason: unknown) => !this.isOver && breakOff(this.response, reason);
    this.timers.push(setTimeout(() => end(timedOut()), patience).unref());
    const look = confirm && (() => void this.confirmed(confirm).catch(end));
    if (look) this.timers.push(setInterval(look, CONFIRM_EVERY).unref());
    this.response.once('close', () => void this.close());
    if (this.response.closed) void this.close();
  }

  /** Once the answer has begun, nothing else of the request reads. */
  private async confirmed(confirm: () => Promise<void>): Promise<void> {
    const { req: request, headersSent } = this.response;
    if (headersSent) request.readsSince = performance.now();
    await confirm();
    if (headersSent) request.readsSince = Infinity;
  }

  private async close(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    this.place.leaveCaller();
    this.timers.forEach(clearTimeout);
    try {
      await this.runner.query('ROLLBACK');
    } catch {
      // The connection is lost, or is being ended.
    } finally {
      await this.runner.release().catch(() => undefined);
      this.place.leave();
    }
  }
}

function timedOut(): ApiError {
  timeOuts.add({ what: 'export' });
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'The export took too long' });
}
