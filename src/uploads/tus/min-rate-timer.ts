import { seconds } from '../../platform';
import { MIN_RATE } from '../../platform/features';
import { rateOf } from '../fair-slots';

/**
 * Ends a request whose client sends too slowly. Each byte extends the time, up to the initial time. So a client that
 * stalls is given up after the initial time, a slower one soon after it, and one that keeps the rate never.
 */
export class MinRateTimer {
  private left: number;
  /** When the client was started to be waited for; undefined while the service makes the client wait. */
  private since: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The bytes received, and the milliseconds in which they were waited for. */
  private came = 0;
  private waited = 0;

  /** @param most the initial and greatest time in milliseconds */
  constructor(
    private readonly most: number,
    private readonly onEnd: () => void,
  ) {
    this.left = most;
  }

  /** Starts to wait for the client. */
  resume(): void {
    this.since ??= performance.now();
    this.timer ??= setTimeout(() => this.look(), this.left).unref();
  }

  /** Stops the clock while the service processes bytes. */
  pause(): void {
    this.settle();
    this.since = undefined;
  }

  /** The rate at which the client sends while it is waited for. */
  get bytesPerSecond(): number {
    this.settle();
    return rateOf(this.came, this.waited);
  }

  earn(bytes: number): void {
    this.settle();
    this.came += bytes;
    this.left = Math.min(this.most, this.left + seconds(bytes / MIN_RATE));
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

  /**
   * The timer isn't restarted for each chunk, as that would cost more than a timer that fires too early now and then.
   */
  private look(): void {
    this.timer = undefined;
    if (this.since === undefined) return;
    this.settle();
    if (this.left > 0) this.resume();
    else this.onEnd();
  }
}
