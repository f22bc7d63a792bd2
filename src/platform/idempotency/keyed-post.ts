import { AsyncLocalStorage } from 'node:async_hooks';
import type { Response } from 'express';
import type { Answer } from '../answers/answer';
import type { KeyedAnswer } from '../answers/keyed-answer';
import { Attempt, type Once } from './attempt';

/** How long a request whose client has gone may still take to its end, in milliseconds; what it writes is called off earlier. */
const GRACE = 1_000;

/** Inside of the handler, where another handler that it calls is part of the same attempt. */
const inside = new AsyncLocalStorage<true>();

/** A POST with an idempotency key, from the call of its handler to its answer. */
export class KeyedPost implements KeyedAnswer {
  private attempt?: Attempt;
  /** That of the attempt that was given up last, whose handler may still run. */
  private end?: Promise<void>;

  constructor(
    private readonly once: Once,
    response: Response,
  ) {
    // Whoever waits in an interceptor for ever must not keep a connection.
    response.once('close', () => {
      if (this.attempt) setTimeout(() => void this.giveUp(), GRACE).unref();
    });
  }

  /** Runs the handler. An interceptor that calls it again, as `retry()` does, begins anew. */
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

  /**
   * Commits what the handler did, together with the answer that is about to leave. Returns the answer to send; undefined
   * when no handler was called, or none that has succeeded.
   */
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

  /** What the first request was answered, when this is a repetition. */
  get replayed(): Answer | undefined {
    return this.attempt?.replayed;
  }

  /** Rolls back what the handler did, and waits for that. */
  async giveUp(): Promise<void> {
    const { attempt } = this;
    this.attempt = undefined;
    if (attempt) this.end = attempt.giveUp();
    await this.end;
  }

  /** The same before an error is answered; whoever is told that it took too long doesn't wait for what takes so long. */
  async giveUpSoon(): Promise<void> {
    const isRunning = this.attempt?.isRunning;
    const end = this.giveUp();
    if (!isRunning) await end;
  }
}
