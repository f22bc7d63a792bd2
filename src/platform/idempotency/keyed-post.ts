import { AsyncLocalStorage } from 'node:async_hooks';
import type { Response } from 'express';
import type { Answer } from '../answers/answer';
import type { KeyedAnswer } from '../answers/keyed-answer';
import { Attempt, type Once } from './attempt';

/** Grace period for a request whose client has gone, in milliseconds. Its statements are called off earlier. */
const GRACE = 1_000;

/** Set while a handler runs, so that another handler that it calls joins the same attempt. */
const inside = new AsyncLocalStorage<true>();

/** A POST with an idempotency key, from the call of its handler to its answer. */
export class KeyedPost implements KeyedAnswer {
  private attempt?: Attempt;
  /** The end of the attempt that was rolled back last. Its handler may still run. */
  private end?: Promise<void>;

  constructor(
    private readonly once: Once,
    response: Response,
  ) {
    // An interceptor that waits for ever must not keep a connection.
    response.once('close', () => {
      if (this.attempt) setTimeout(() => void this.giveUp(), GRACE).unref();
    });
  }

  /** Runs the handler. An interceptor that calls it again, e.g. by `retry()`, starts a new attempt. */
  call(handler: () => unknown): unknown {
    return inside.getStore() ? handler() : this.begin(() => inside.run(true, handler));
  }

  private async begin(handler: () => unknown): Promise<unknown> {
    await this.giveUp();
    const attempt = (this.attempt = new Attempt(this.once, handler));
    try {
      return await attempt.value;
    } catch (error) {
      if (this.attempt === attempt) this.attempt = undefined;
      throw error;
    }
  }

  async finish(answer: () => Answer): Promise<Answer | undefined> {
    const { attempt } = this;
    if (!attempt) return undefined;
    try {
      const kept = await attempt.finish(answer);
      this.attempt = undefined;
      return kept;
    } catch (error) {
      await this.giveUp();
      throw error;
    }
  }

  get replayed(): Answer | undefined {
    return this.attempt?.replayed;
  }

  async giveUp(): Promise<void> {
    const { attempt } = this;
    this.attempt = undefined;
    if (attempt) this.end = attempt.giveUp();
    await this.end;
  }

  /**
   * Rolls back before an error is answered. After the time limit the caller doesn't wait for a handler that still runs.
   */
  async giveUpSoon(): Promise<void> {
    const isRunning = this.attempt?.isRunning;
    const end = this.giveUp();
    if (!isRunning) await end;
  }
}
