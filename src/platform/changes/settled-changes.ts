import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { settledTable } from '../rows/settled-counts';
import { areUnderWay, lastNumberOf, WRITERS, type Writers } from '../rows/table-writers';
import { UnitOfWork } from '../transactions/unit-of-work';
import { MS_PER_SECOND, seconds } from '../units';
import { Marks } from './marks';

/** How long a reader waits for writers that have begun before it, in milliseconds. */
const PATIENCE = seconds(1);
/** Milliseconds between two looks. */
const INTERVAL = 10;
/** For how long a mark waits for all transactions of the cluster, in milliseconds. Then those that can't have an event are left out. */
const FOR_ALL = 250;
/** The least time between two looks at locks, in milliseconds: they cost more than the number of a transaction. */
const LOCKS_INTERVAL = 100;
/** A search for the last event that takes so many milliseconds is followed by a rest of so many times that, or half a second. */
const SLOW = 50;
const RESTS = 4;

const TABLE = 'audit_events';
/** Up to where processes have counted: all of it is settled, unless the table was repaired by hand. */
const COUNTED = `
  SELECT up_to AS settled FROM settled_counts WHERE table_name = '${TABLE}' AND up_to <= ${lastNumberOf(TABLE)}`;
const BEHIND = `${TABLE}_id_seq has given less than there is in ${TABLE}, or may not be read by the role of DATABASE_URL`;
const GIVEN = `SELECT ${lastNumberOf(TABLE)} AS given`;
/**
 * The last event after $1 that is committed, and after it the next transaction. The snapshot's own `xmax` is one past the last number
 * that has *ended*: transactions above it may run already. So the reader takes a number for itself, which is greater than those of
 * all that have one.
 */
const NOTED = `
  WITH noted AS MATERIALIZED (
    SELECT clock_timestamp() AS began, ${lastNumberOf(TABLE)} AS given, (SELECT max(id) FROM ${TABLE} WHERE id > $1) AS last
  )
  SELECT given, last, CASE WHEN last IS NOT NULL THEN pg_current_xact_id()::text END AS next,
         (extract(epoch FROM clock_timestamp() - began) * ${MS_PER_SECOND})::float8 AS took,
         pg_postmaster_start_time()::text AS server
    FROM noted`;
const OLDEST = 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest';
const OLDEST_AFTER = `
  SELECT greatest(extract(epoch FROM clock_timestamp() - created_at), 0)::float8 AS age
    FROM audit_events WHERE id > $1 ORDER BY id LIMIT 1`;

interface Noted {
  given: string;
  last: string | null;
  next: string | null;
  /** How long the search took, in milliseconds. */
  took: number;
  /** The start of the server, which no other has. */
  server: string;
}

/**
 * Finds the event up to which all are there. Events are numbered while their transactions run, and a transaction may commit
 * after others with greater numbers. So a reader stops before the first event that may still come: it notes the last one that is
 * committed, and then the next transaction. The event is settled when no transaction before that one runs any more. While one runs
 * on, maybe in another database of the cluster, the event is settled when those are gone that could have one.
 *
 * An event that can be seen is on the disk, and so are all numbers before its own: a crash takes none of them back.
 */
@Injectable()
export class SettledChanges {
  private marks?: Promise<Marks>;
  /** Another one each time that numbers have gone back. */
  private history: object = {};
  private restsUntil = -Infinity;
  private locksSeenAt = -Infinity;
  private looking?: Promise<number>;

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
   * The number so far, without waiting for writers, and that of the last event that is committed: if it is greater, some may still
   * come. With another `history` than before, events may have numbers that others had.
   */
  async soFar(): Promise<{ settled: number; last: number; history: object }> {
    const marks = await UnitOfWork.outside(() => this.lookOnce());
    return { settled: marks.settled, last: marks.known, history: this.history };
  }

  /** False for a number that no event has had: it comes from another history of the database, as before a restore. */
  async hasGiven(number: number): Promise<boolean> {
    const [{ given }] = await this.database.query<{ given: string }[]>(GIVEN);
    return number <= Number(given);
  }

  /**
   * The age in seconds of the oldest event that is committed and can't be told yet, because a transaction that has
   * written before still runs; 0 if there is none. Waits a second at most for those that end by themselves.
   */
  async heldBack(): Promise<number> {
    const settled = await this.upTo();
    const { first: mark } = await this.current();
    if (!mark) return 0;
    const [event] = await UnitOfWork.outside(() => this.database.query<{ age: number }[]>(OLDEST_AFTER, [settled]));
    // A process that has settled nothing yet knows only since when it has tried.
    return Math.min(event?.age ?? 0, (performance.now() - mark.at) / MS_PER_SECOND);
  }

  private async look(): Promise<number> {
    const marks = await this.lookOnce();
    const wanted = marks.known;
    const end = performance.now() + PATIENCE;
    while (marks.settled < wanted && performance.now() < end) {
      await delay(INTERVAL);
      await this.settle(marks);
    }
    return marks.settled;
  }

  private async lookOnce(): Promise<Marks> {
    const marks = await this.note();
    await this.settle(marks);
    return marks;
  }

  private current(): Promise<Marks> {
    return (this.marks ??= this.begin());
  }

  /** Goes on from where processes have counted. */
  private async begin(): Promise<Marks> {
    try {
      return new Marks(await this.counted());
    } catch (error) {
      this.marks = undefined;
      throw error;
    }
  }

  private async counted(): Promise<number> {
    // The migration may not have run yet.
    if (!settledTable(this.database, TABLE)) return 0;
    const [row] = await this.database.query<{ settled: string }[]>(COUNTED);
    return Number(row?.settled ?? 0);
  }

  /** Notes the last event. Only one that is new costs a transaction. */
  private async note(): Promise<Marks> {
    await this.rest();
    const current = this.current();
    const marks = await current;
    const { known } = marks;
    const [{ given, last, next, took, server }] = await this.database.query<Noted[]>(NOTED, [known]);
    this.restAfter(took);
    if (Number(given) < Number(last)) throw new Error(BEHIND);
    // A standby that takes over has less, if commits didn't wait for it, and gives the same numbers again.
    const isBehind = Number(given) < known;
    if (isBehind || server !== (marks.server ??= server)) {
      if (this.marks === current) this.marks = undefined;
      if (isBehind) this.history = {};
      return this.note();
    }
    if (next !== null) marks.add({ last: Number(last), next: BigInt(next), at: performance.now() });
    return marks;
  }

  private async rest(): Promise<void> {
    const rest = this.restsUntil - performance.now();
    if (rest > 0) await delay(rest);
  }

  /** The search for the last event passes over those of transactions that run on, maybe a million. */
  private restAfter(took: number): void {
    if (took >= SLOW) this.restsUntil = performance.now() + Math.min(RESTS * took, PATIENCE / 2);
  }

  /** Finds the last mark whose transactions have all ended. */
  private async settle(marks: Marks): Promise<void> {
    if (!marks.first) return;
    const [{ oldest }] = await this.database.query<{ oldest: string }[]>(OLDEST);
    marks.settle(({ next }) => next <= BigInt(oldest));
    const now = performance.now();
    const isWaiting = marks.first !== undefined && now - marks.first.at >= FOR_ALL;
    if (isWaiting && now - this.locksSeenAt >= LOCKS_INTERVAL) await this.settleByLocks(marks);
  }

  /** Leaves out the transactions that can't have an event. */
  private async settleByLocks(marks: Marks): Promise<void> {
    this.locksSeenAt = performance.now();
    // Not those that are noted meanwhile: an event of theirs may be younger than what is read here.
    const { waiting } = marks;
    const [{ writers }] = await this.database.query<Writers[]>(WRITERS, [TABLE]);
    marks.settle((mark) => !areUnderWay((mark.writers ??= writers), writers), waiting);
  }
}
