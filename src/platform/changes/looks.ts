import { Logger } from '@nestjs/common';
import { seconds } from '../units';

/** How often is looked without a notice, in milliseconds: for writes of other programs, and notices that got lost. */
const INTERVAL = seconds(1);
/** The least time between two looks; longer and longer while a writer runs on. */
const PAUSE = 50;
const LONGEST_PAUSE = seconds(1 / 2);

/** Looks again and again: soon after each notice, and otherwise once a second. */
export class Looks {
  private readonly logger = new Logger('Changes');
  private ticking?: NodeJS.Timeout;
  private next?: NodeJS.Timeout;
  private isLooking = false;
  private isAsked = false;
  private lookedAt = -Infinity;
  private pause = PAUSE;
  private hasFailed = false;

  /** @param look tells whether it has found all that it knows of. Otherwise it is called again soon */
  constructor(private readonly look: () => Promise<boolean>) {}

  /** @param onTick called once a second besides */
  begin(onTick: () => void): void {
    clearInterval(this.ticking);
    this.ticking = setInterval(() => {
      this.soon();
      onTick();
    }, INTERVAL).unref();
    this.soon();
  }

  end(): void {
    clearInterval(this.ticking);
    clearTimeout(this.next);
    this.ticking = this.next = undefined;
  }

  /** Concurrent calls share a look that begins after them. */
  soon(): void {
    if (this.isLooking) this.isAsked = true;
    if (this.isLooking || this.next || !this.ticking) return;
    const rest = Math.max(0, this.lookedAt + this.pause - performance.now());
    this.next = setTimeout(() => void this.run(), rest).unref();
  }

  private async run(): Promise<void> {
    this.next = undefined;
    this.isLooking = true;
    this.isAsked = false;
    this.lookedAt = performance.now();
    let isDone = true;
    try {
      isDone = await this.look();
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) this.logger.warn({ err: error }, 'Changes could not be looked for');
      this.hasFailed = true;
    }
    this.isLooking = false;
    this.pause = isDone ? PAUSE : Math.min(2 * this.pause, LONGEST_PAUSE);
    if (this.isAsked || !isDone) this.soon();
  }
}
