import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller';
import { tokenEnd } from '../auth/token-end';
import type { ChangesQuery, ChangesRead } from './changes';
import type { Listener } from './listener';
import type { LiveChanges } from './live-changes';

/** What a follower does with what it reads. */
export interface Following {
  /** Takes what was read, in its order. A promise: takes more only after it is resolved. */
  take: (found: ChangesRead) => Promise<void> | void;
  /** Called once a second. @param now by the clock of `performance` */
  tick: (now: number) => void;
  /** Called when no more comes: the caller may no longer read, the service stops (no reason), or something has failed. */
  over: (reason?: Error) => void;
}

/** Reads on from a position for one request: what is there at once, and then what comes, until it is left. */
export class Follower implements Listener {
  readonly caller: Caller;
  readonly until?: number;
  /** The position up to which everything was taken. */
  after: number;
  private readonly leaveAll: () => void;
  private isBusy = false;
  private isWoken = false;
  private isOver = false;

  constructor(
    private readonly live: LiveChanges,
    private readonly request: Request,
    private readonly query: ChangesQuery,
    private readonly following: Following,
  ) {
    this.caller = query.caller;
    this.until = tokenEnd(request);
    this.after = query.after;
    // It holds nothing that others wait for.
    request.readsSince = Infinity;
    request.timeLimit?.progress(0);
    this.leaveAll = live.join(this);
    const response = request.res as Response;
    if (response.closed) this.leave();
    else response.once('close', () => this.leave());
  }

  /** Ends it without a word. */
  leave(): void {
    this.isOver = true;
    this.leaveAll();
  }

  wake(): void {
    this.isWoken = true;
    // In a loop, and without promises where it has what it needs: thousands are woken at once.
    while (this.isWoken && !this.isBusy && !this.isOver) {
      this.isWoken = false;
      const found = this.live.read({ ...this.query, after: this.after }, this.request.ip);
      const rest = found instanceof Promise ? this.afterReading(found) : this.pass(found);
      if (rest) this.waitFor(rest);
    }
  }

  tick(now: number): void {
    if (!this.isOver && !this.isBusy) this.following.tick(now);
  }

  end(reason?: Error): void {
    if (this.isOver) return;
    this.leave();
    this.following.over(reason);
  }

  private pass(found: ChangesRead): Promise<void> | void {
    this.isWoken ||= found.more;
    const taken = this.following.take(found);
    if (!taken) this.after = found.next;
    return taken?.then(() => void (this.after = found.next));
  }

  private async afterReading(reading: Promise<ChangesRead>): Promise<void> {
    this.request.readsSince = performance.now();
    const found = await reading.finally(() => (this.request.readsSince = Infinity));
    if (!this.isOver) await this.pass(found);
  }

  private waitFor(step: Promise<void>): void {
    this.isBusy = true;
    step.then(
      () => {
        this.isBusy = false;
        if (this.isWoken) this.wake();
      },
      (error: Error) => this.end(error),
    );
  }
}
