import { Logger } from '@nestjs/common';
import { AuthenticationError } from '../auth/auth-errors';
import { isAdmin } from '../auth/caller';
import type { Callers } from '../auth/callers';
import { seconds } from '../units';
import type { Listener } from './listener';

/** How often is asked whether callers may still listen, in milliseconds. */
const INTERVAL = seconds(1 / 2);
/** For how long an answer counts. While there is none, nobody is told anything. */
const FRESH = seconds(2);

/** Looks all listeners' callers up again, by one statement each half second. */
export class Confirmations {
  private readonly logger = new Logger('Changes');
  private timer?: NodeJS.Timeout;
  private isAsking = false;
  private confirmedAt = -Infinity;
  private hasFailed = false;

  /** @param onFresh called when callers are confirmed again after they were not */
  constructor(
    private readonly callers: Callers,
    private readonly listeners: Iterable<Listener>,
    private readonly onFresh: () => void,
  ) {}

  begin(): void {
    clearInterval(this.timer);
    // The guards have just confirmed those who begin.
    this.confirmedAt = performance.now();
    this.timer = setInterval(() => void this.confirm(), INTERVAL).unref();
  }

  end(): void {
    clearInterval(this.timer);
  }

  get areFresh(): boolean {
    return performance.now() - this.confirmedAt < FRESH;
  }

  /**
   * Looks those up again who may see everything. To be awaited between the read of changes and the telling of them, so that nobody
   * hears of what was made after the role was lost. The others may lose no more than what everybody reads, and what is theirs.
   */
  renewAdmins(): Promise<void> {
    return this.endGone([...this.listeners].filter(({ caller }) => isAdmin(caller)));
  }

  private async confirm(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const wasFresh = this.areFresh;
    const asked = [...this.listeners];
    const since = performance.now();
    try {
      await this.endGone(asked);
      this.confirmedAt = since;
      this.hasFailed = false;
      if (!wasFresh) this.onFresh();
    } catch (error) {
      if (!this.hasFailed) this.logger.warn({ err: error }, 'The callers who listen could not be looked up again');
      this.hasFailed = true;
    } finally {
      this.isAsking = false;
    }
  }

  private async endGone(asked: Listener[]): Promise<void> {
    const now = Date.now();
    const gone = asked.length > 0 ? await this.callers.goneAmong(asked.map(({ caller }) => caller)) : new Set();
    for (const listener of asked) {
      const { caller, until = Infinity } = listener;
      if (until <= now || gone.has(caller)) listener.end(AuthenticationError.invalidToken());
    }
  }
}
