import { MIN_RATE } from '../../platform';
import { rateOf } from '../places';

const MILLISECOND = 1_000;

/**
 * How long a client is waited for: each byte that it sends gives it time, though never more than it had at first. So one
 * that stalls ends after that time, one that drips soon after it, and one that keeps to the rate never.
 */
export class Patience {
  private left: number;
  /** Since when the client is waited for; undefined while it is kept waiting itself. */
  private since: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Bytes that have come, and milliseconds in which they were waited for. */
  private came = 0;
  private waited = 0;

  /** @param most milliseconds */
  constructor(
    private readonly most: number,
    private readonly onEnd: () => void,
  ) {
    this.left = most;
  }

  /** It is for the client to send. */
  resume(): void {
    this.since ??= performance.now();
    this.timer ??= setTimeout(() => this.look(), this.left).unref();
  }

  /** It is for us to take what was sent. */
  pause(): void {
    this.settle();
    this.since = undefined;
  }

  /** Bytes a second that the client sends when it is waited for. */
  get rate(): number {
    this.settle();
    return rateOf(this.came, this.waited);
  }

  earn(bytes: number): void {
    this.settle();
    this.came += bytes;
    this.left = Math.min(this.most, this.left + (bytes / MIN_RATE) * MILLISECOND);
  }

  end(): void {
    clearTimeout(this.timer);
    this.since = undefined;
  }

  private settle(): void {
    if (this.since === undefined) return;
    const now = performance.now();
    this.left -= now - this.since;
    this.waited += now - this.since;
    this.since = now;
  }

  /** A timer for each chunk would cost more than one that now and then comes too early. */
  private look(): void {
    this.timer = undefined;
    if (this.since === undefined) return;
    this.settle();
    if (this.left > 0) this.resume();
    else this.onEnd();
  }
}
