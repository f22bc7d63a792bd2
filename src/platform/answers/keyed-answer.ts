import type { Answer } from './answer';

declare module 'express-serve-static-core' {
  interface Request {
    /** What its Idempotency-Key keeps together; undefined without a key. */
    keyed?: KeyedAnswer;
  }
}

/** What is committed together: what the handler of a request with an Idempotency-Key did, and what it is answered. */
export interface KeyedAnswer {
  /** What the first request was answered, when this is a repetition. */
  readonly replayed: Answer | undefined;
  /**
   * Commits what the handler did, together with the answer that is about to leave. Resolves to the answer to send; to
   * undefined when no handler was called, or none that has succeeded.
   */
  finish(answer: () => Answer): Promise<Answer | undefined>;
  /** Rolls back what the handler did, and waits for that. */
  giveUp(): Promise<void>;
  /** The same before an error is answered: a handler that still runs is not waited for. */
  giveUpSoon(): Promise<void>;
}
