import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Callers } from '../auth/callers';
import { queueKeysOf } from '../limits/client-network';
import { LoopTurns } from '../limits/loop-turns';
import { Semaphore } from '../limits/semaphore';
import { SlotPool } from '../limits/slot-pool';
import { UnitOfWork } from '../transactions/unit-of-work';
import { seconds } from '../units';
import { ChangeNotices } from './change-notices';
import { Changes, type ChangesQuery, type ChangesRead } from './changes';
import { Confirmations } from './confirmations';
import type { Listener } from './listener';
import { Looks } from './looks';
import { RecentChanges } from './recent-changes';
import { SettledChanges } from './settled-changes';

/** Listeners that read from the database at once because they are far behind, and those that may wait for that. */
const CATCHING_UP = 2;
const MAX_WAITING = 10_000;
/** For how long notices are heard after the last listener: whoever polls comes back. */
const LINGER = seconds(10);

/**
 * The changes as they come, for all listeners of a process together: one look finds how far the feed is, one statement reads
 * what is new, and each listener takes its own from memory. Without a listener nothing of it runs.
 */
@Injectable()
export class LiveChanges implements OnModuleDestroy {
  private readonly logger = new Logger('Changes');
  private readonly listeners = new SlotPool<Listener>();
  private readonly lane = new Semaphore(CATCHING_UP, MAX_WAITING);
  private readonly looks = new Looks(() => this.look());
  private readonly confirmations: Confirmations;
  private recent?: RecentChanges;
  private history?: object;
  private isWaking = false;
  private isToWake = false;
  private lingering?: NodeJS.Timeout;
  private isRunning = false;
  private isEnding = false;

  constructor(
    private readonly changes: Changes,
    private readonly settled: SettledChanges,
    private readonly notices: ChangeNotices,
    callers: Callers,
  ) {
    this.confirmations = new Confirmations(callers, this.listeners, () => this.wakeAll());
  }

  /** Adds a listener, and wakes it soon. @returns a function that removes it */
  join(listener: Listener): () => void {
    const slot = this.listeners.take(listener);
    let isIn = true;
    UnitOfWork.outside(() => {
      this.begin();
      setImmediate(() => isIn && (this.isEnding ? listener.end() : listener.wake()));
    });
    return () => {
      if (!isIn) return;
      isIn = false;
      this.listeners.clear(slot);
      if (this.listeners.size === 0) this.finishLater();
    };
  }

  /** The number of listeners. */
  get size(): number {
    return this.listeners.size;
  }

  /**
   * Reads on, as far as this process knows the feed: from memory, or in turns from the database.
   * @param ip the address of the client, for its turn
   */
  read(query: ChangesQuery, ip: string | undefined): ChangesRead | Promise<ChangesRead> {
    const { recent } = this;
    // Before the first look nothing is known.
    if (!recent) return { changes: [], next: query.after, more: false };
    const found = recent.read(query);
    if (found) return found;
    return this.inTurn(ip, () => this.changes.readUpTo(recent.upTo, query));
  }

  /** Reads something else for a listener, in the same turns. */
  inTurn<T>(ip: string | undefined, read: () => Promise<T>): Promise<T> {
    return UnitOfWork.outside(() => this.lane.run(read, undefined, queueKeysOf(ip)));
  }

  onModuleDestroy(): void {
    this.isEnding = true;
    for (const listener of this.listeners) listener.end();
    this.finish();
  }

  private begin(): void {
    clearTimeout(this.lingering);
    if (this.isRunning || this.isEnding) return;
    this.isRunning = true;
    this.notices.listen(() => this.looks.soon());
    this.looks.begin(() => this.tickAll());
    this.confirmations.begin();
  }

  private finishLater(): void {
    this.lingering = UnitOfWork.outside(() => setTimeout(() => this.finish(), LINGER).unref());
  }

  private finish(): void {
    clearTimeout(this.lingering);
    this.isRunning = false;
    this.notices.unlisten();
    this.looks.end();
    this.confirmations.end();
    this.recent = undefined;
  }

  /** @returns whether everything that is known of is settled, and was read */
  private async look(): Promise<boolean> {
    const { settled, last, history } = await this.settled.soFar();
    if (!this.isRunning) return true;
    if (history !== this.history) this.beginHistory(history);
    const isFirst = !this.recent;
    const recent = (this.recent ??= new RecentChanges(settled));
    while (recent.upTo < settled) {
      const { events, next } = await this.changes.eventsBetween(recent.upTo, settled);
      if (events.length > 0) await this.confirmations.renewAdmins();
      recent.add(events, next);
      this.wakeAll();
    }
    if (isFirst) this.wakeAll();
    return recent.upTo >= last;
  }

  /** What listeners know may have never been. They come back with their marks, and are told so. */
  private beginHistory(history: object): void {
    const isFirst = !this.history;
    this.history = history;
    if (isFirst) return;
    this.recent = undefined;
    for (const listener of this.listeners) listener.end();
  }

  private wakeAll(): void {
    this.isToWake = true;
    if (this.isWaking) return;
    this.isWaking = true;
    void this.callAll(() => this.isToWake);
  }

  /** In pieces: ten thousand listeners take longer than others should wait. */
  private async callAll(isToCall: () => boolean): Promise<void> {
    const turns = new LoopTurns();
    while (isToCall() && this.confirmations.areFresh) {
      this.isToWake = false;
      for (const listener of this.listeners) {
        if (turns.isOver) await turns.next();
        this.call(listener, () => listener.wake());
      }
    }
    this.isWaking = false;
  }

  private tickAll(): void {
    const now = performance.now();
    for (const listener of this.listeners) this.call(listener, () => listener.tick(now));
  }

  /** One listener that fails must not keep others waiting. */
  private call(listener: Listener, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.logger.error({ err: error }, 'A listener failed');
      listener.end(error as Error);
    }
  }
}
