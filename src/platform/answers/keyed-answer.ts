import type { Answer } from './answer';

declare module 'express-serve-static-core' {
  interface Request {
    /** The attempt under the Idempotency-Key of the request; undefined without a key. */
    keyed?: KeyedAnswer;
  }
}

/** Commits the work of a request with an Idempotency-Key together with its answer. */
export interface KeyedAnswer {
  /** The answer to the first request, if this request repeats it. */
  readonly replayed: Answer | undefined;
  /**
   * Commits the handler's work together with the answer. Resolves to the answer to send. Resolves to undefined if no
   * handler was called, or the handler failed.
   */
  finish(answer: () => Answer): Promise<Answer | undefined>;
  /** Rolls back the handler's work, and waits until that is done. */
  giveUp(): Promise<void>;
  /** Rolls back before an error is answered. A handler that still runs is not waited for. */
  giveUpSoon(): Promise<void>;
}
