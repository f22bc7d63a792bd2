import { isObservable, lastValueFrom } from 'rxjs';
import type { Answer } from '../answers/answer';

/** Runs the work in a transaction with its key, or returns the answer of the first attempt. */
export type Once = (work: () => Promise<Answer>) => Promise<Answer>;

/** Rolls back a transaction whose handler has finished. */
class GivenUp extends Error {}

/**
 * One call of the handler of a request with a key. Its transaction stays open until the final answer is known:
 * interceptors see what they would see without a key, and the stored answer is the one that the client gets.
 */
export class Attempt {
  /** The value for the interceptors: the handler's value, or for a repetition the value of the first answer. */
  readonly value: Promise<unknown>;
  /** The answer to the first request, if this request repeats it. */
  replayed?: Answer;
  /** True while the handler runs. */
  isRunning = true;
  private readonly transaction: Promise<Answer>;
  private settle: (answer: Answer) => void;
  private fail: (reason: Error) => void;

  constructor(once: Once, handler: () => unknown) {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
    });
    answer.catch(() => undefined);
    let pass: (value: unknown) => void;
    let called = false;
    const value = new Promise((resolve) => (pass = resolve));
    const work = async () => {
      called = true;
      pass(await this.valueOf(handler));
      return answer;
    };
    this.transaction = (async () => once(work))();
    // If there is no value, because the handler failed or wasn't called, the transaction ends first.
    const ended = this.transaction.then((kept) => (called ? value : this.replay(kept)));
    this.value = Promise.race([value, ended]);
    this.value.catch(() => undefined);
  }

  private async valueOf(handler: () => unknown): Promise<unknown> {
    try {
      const value = await handler();
      return isObservable(value) ? await lastValueFrom(value) : value;
    } finally {
      this.isRunning = false;
    }
  }

  private replay(kept: Answer): unknown {
    this.replayed = kept;
    this.isRunning = false;
    return kept.value;
  }

  /** Commits the work with this answer. Returns the answer to send. For a repetition, it is the first answer. */
  finish(answer: () => Answer): Promise<Answer> {
    if (!this.replayed) this.settle(answer());
    return this.transaction;
  }

  /**
   * Rolls the work back once its handler has ended: a handler that still runs must not do the rest of its work outside
   * of the transaction.
   */
  async giveUp(): Promise<void> {
    this.fail(new GivenUp());
    await this.transaction.catch(() => undefined);
  }
}
