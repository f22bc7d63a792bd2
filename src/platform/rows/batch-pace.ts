import { AsyncResource } from 'node:async_hooks';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';

/**
 * How long a batch waits for the statement before it, in milliseconds. A statement that takes longer, because of a lock or a
 * slow network, holds up none of those after it.
 */
const PATIENCE = 5;

/**
 * Decides when the batches of a {@link BatchedRead} begin: after one more turn of the event loop, and after the statement
 * of the batch before. What is asked for meanwhile shares the next statement. Where every request is a little sooner than
 * the last one's answer, each would otherwise have a statement of its own, which costs more than the rest of a simple read.
 */
export class BatchPace {
  /** The statement that batches wait for. */
  private running?: symbol;
  private readonly waiting: (() => void)[] = [];
  private timer?: NodeJS.Timeout;

  /** @param patience milliseconds that a batch waits for the statement before it */
  constructor(private readonly patience = PATIENCE) {}

  /** Begins a batch in its time, in the asynchronous context of the caller. */
  schedule(begin: () => void): void {
    if (!this.running) return inTwoTurns(begin);
    // AsyncResource.bind() would give each function a hidden class of its own, which V8 keeps.
    const caller = new AsyncResource('BatchedRead');
    this.waiting.push(() => caller.runInAsyncScope(begin));
    this.timer ??= setTimeout(() => this.goOn(), this.patience);
  }

  /** Runs the statement of a batch. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    const self = Symbol('statement');
    this.running = self;
    try {
      return await read();
    } finally {
      if (this.running === self) this.goOn();
    }
  }

  private goOn(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running = undefined;
    for (const begin of this.waiting.splice(0)) inTwoTurns(begin);
  }
}

/** The end of this turn is too soon for the requests whose bytes are there already. */
const inTwoTurns = (begin: () => void): void => void setImmediate(setImmediate, begin);
