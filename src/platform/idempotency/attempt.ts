import { isObservable, lastValueFrom } from 'rxjs';
import type { Answer } from '../answers/answer';

/** Does the work in a transaction with its key, or answers what it answered the first time. */
export type Once = (work: () => Promise<Answer>) => Promise<Answer>;

/** Why a transaction is rolled back whose handler has done its part. */
class GivenUp extends Error {}

/**
 * One call of the handler of a request with a key. Its transaction is open until the answer is known that leaves: all
 * interceptors see what they would see without a key, and what the client gets is what is kept.
 */
export class Attempt {
  /** What the handler returns, for the interceptors; of a request that was answered before, what its answer held. */
  readonly value: Promise<unknown>;
  /** What the first request was answered, when this is a repetition. */
  replayed?: Answer;
  /** Whether the handler still runs. */
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
    // It ends before the handler's value is there when there is none: the handler has failed, or was not called.
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

  /** Commits it with this answer. Returns the one to send, which is the first one of a request that came before. */
  finish(answer: () => Answer): Promise<Answer> {
    if (!this.replayed) this.settle(answer());
    return this.transaction;
  }

  /** Rolls it back, as soon as its handler has ended: what is still running must not do the rest of its work alone. */
  async giveUp(): Promise<void> {
    this.fail(new GivenUp());
    await this.transaction.catch(() => undefined);
  }
}
