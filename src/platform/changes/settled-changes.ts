import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { areUnderWay, lastNumberOf, WRITERS, type Writers } from '../rows/table-writers';
import { UnitOfWork } from '../transactions/unit-of-work';
import { MS_PER_SECOND, seconds } from '../units';

/** How long a reader waits for writers that have begun before it, in milliseconds. */
const PATIENCE = seconds(1);
/** Milliseconds between two looks. */
const INTERVAL = 10;
/** Marks that are kept while a writer runs on. */
const MAX_MARKS = 100;
/** For how long a mark waits for all transactions of the cluster, in milliseconds. Then those that can't have an event are left out. */
const FOR_ALL = 250;
/** The least time between two looks at locks, in milliseconds: they cost more than the number of a transaction. */
const LOCKS_INTERVAL = 100;

const TABLE = 'audit_events';
const LAST = `SELECT ${lastNumberOf(TABLE)} AS last`;
const OLDEST = 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest';
/**
 * The last number, and after it the next transaction. The snapshot's own `xmax` is one past the last number that has *ended*:
 * transactions above it may run already. So the reader takes a number for itself, which is greater than those of all that have one.
 *
 * PostgreSQL waits for the disk, and for a synchronous standby, only with a transaction that has written something. With this one's
 * message, which nobody reads, it does: the number and all before it are there after a crash, and nobody gets them again.
 */
const NOTED = `
  WITH noted AS MATERIALIZED (SELECT ${lastNumberOf(TABLE)} AS last)
  SELECT last, pg_current_xact_id()::text AS next, pg_logical_emit_message(true, '${TABLE}', '') FROM noted`;

const OLDEST_AFTER = `
  SELECT greatest(extract(epoch FROM clock_timestamp() - created_at), 0)::float8 AS age
    FROM audit_events WHERE id > $1 ORDER BY id LIMIT 1`;

/** All events up to `last` are of transactions whose number is less than `next`, also after a crash. */
interface Mark {
  last: number;
  next: bigint;
  /** When it was noted, by the clock of `performance`. */
  at: number;
  /** The transactions that may have had an event when it was noted, or after it. Undefined until somebody asks. */
  writers?: string[];
}

/**
 * Finds the event up to which all are there. Events are numbered while their transactions run, and a transaction may commit
 * after others with greater numbers. So a reader stops before the first event that may still come: it notes the last number,
 * and then the next transaction. The number is settled when no transaction before that one runs any more. While one runs on, maybe
 * in another database of the cluster, the number is settled when those are gone that could have an event.
 */
@Injectable()
export class SettledChanges {
  private marks: Mark[] = [];
  private settled = 0;
  /** How often numbers have gone back. */
  private history = 0;
  private locksSeenAt = -Infinity;
  private looking?: Promise<number>;
  private noting?: Promise<void>;

  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /**
   * The number of an event: every event up to it is committed, or never will be. Has those of all transactions that ended
   * before the call, unless a writer runs for longer than a second. Concurrent calls share the statements.
   */
  async upTo(): Promise<number> {
    // A look that has begun may have noted its number before the caller's own write.
    if (this.looking) await this.looking.catch(() => undefined);
    return (this.looking ??= UnitOfWork.outside(() => this.look()).finally(() => (this.looking = undefined)));
  }

  /**
   * The number so far, without waiting for writers, and the last one that was given: if that is greater, some may still come. With
   * another `history` than before, events may have numbers that others had.
   */
  async soFar(): Promise<{ settled: number; last: number; history: number }> {
    const last = await UnitOfWork.outside(() => this.lookOnce());
    return { settled: this.settled, last: Math.max(last, this.settled), history: this.history };
  }

  /** False for a number that no event has had: it comes from another history of the database, as before a restore. */
  async hasGiven(number: number): Promise<boolean> {
    return number <= this.settled || number <= (await this.last());
  }

  /**
   * The age in seconds of the oldest event that is committed and can't be told yet, because a transaction that has
   * written before still runs; 0 if there is none. Waits a second at most for those that end by themselves.
   */
  async heldBack(): Promise<number> {
    const settled = await this.upTo();
    const [mark] = this.marks;
    if (!mark) return 0;
    const [event] = await UnitOfWork.outside(() => this.database.query<{ age: number }[]>(OLDEST_AFTER, [settled]));
    // A process that has settled nothing yet knows only since when it has tried.
    return Math.min(event?.age ?? 0, (performance.now() - mark.at) / MS_PER_SECOND);
  }

  private async look(): Promise<number> {
    const end = performance.now() + PATIENCE;
    const wanted = await this.lookOnce();
    while (this.settled < wanted && performance.now() < end) {
      await delay(INTERVAL);
      await this.note(wanted);
      await this.settle();
    }
    return this.settled;
  }

  private async lookOnce(): Promise<number> {
    const last = await this.last();
    await this.note(last);
    await this.settle();
    return last;
  }

  private async last(): Promise<number> {
    // Before the statement is sent: what is known meanwhile may be greater than what it reads.
    const known = this.known;
    const [{ last }] = await this.database.query<{ last: string }[]>(LAST);
    // A standby that takes over has less, if commits didn't wait for it.
    if (Number(last) < known) this.forgetAll();
    return Number(last);
  }

  /** The greatest number that was noted. */
  private get known(): number {
    return Math.max(this.settled, ...this.marks.map(({ last }) => last));
  }

  /** Notes a number that is new, which costs a transaction. Waits a second at most: a standby may not confirm it. */
  private async note(number: number): Promise<void> {
    if (number <= this.known) return;
    this.noting ??= this.noteLast().finally(() => (this.noting = undefined));
    const isOver = new AbortController();
    const late = delay(PATIENCE, undefined, isOver).catch(() => undefined);
    await Promise.race([this.noting, late]).finally(() => isOver.abort());
  }

  private async noteLast(): Promise<void> {
    const [{ last, next }] = await this.database.query<{ last: string; next: string }[]>(NOTED);
    this.marks.push({ last: Number(last), next: BigInt(next), at: performance.now() });
    // Every other one, so that old and new ones remain.
    if (this.marks.length > MAX_MARKS) this.marks = this.marks.filter((_, index) => index % 2 === 0);
  }

  /** Finds the last mark whose transactions have all ended. */
  private async settle(): Promise<void> {
    if (this.marks.length === 0) return;
    const [{ oldest }] = await this.database.query<{ oldest: string }[]>(OLDEST);
    for (const { last, next } of this.marks) {
      if (next <= BigInt(oldest)) this.settled = Math.max(this.settled, last);
    }
    this.forgetSettled();
    const now = performance.now();
    const isWaiting = this.marks.length > 0 && now - this.marks[0].at >= FOR_ALL;
    if (isWaiting && now - this.locksSeenAt >= LOCKS_INTERVAL) await this.settleByLocks();
  }

  /** Leaves out the transactions that can't have an event. */
  private async settleByLocks(): Promise<void> {
    this.locksSeenAt = performance.now();
    // Not those that are noted meanwhile: an event of theirs may be younger than what is read here.
    const marks = [...this.marks];
    const [{ writers }] = await this.database.query<Writers[]>(WRITERS, [TABLE]);
    for (const mark of marks) {
      mark.writers ??= writers;
      if (!this.marks.includes(mark)) continue;
      if (!areUnderWay(mark.writers, writers)) this.settled = Math.max(this.settled, mark.last);
    }
    this.forgetSettled();
  }

  private forgetSettled(): void {
    this.marks = this.marks.filter(({ last }) => last > this.settled);
  }

  private forgetAll(): void {
    this.marks = [];
    this.settled = 0;
    this.history++;
  }
}
