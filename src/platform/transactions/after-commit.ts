import { Logger } from '@nestjs/common';

export type Outcome = 'Commit' | 'Rollback';
/** Called when the transaction has ended. */
export type Waiter = (outcome: Outcome) => void | Promise<void>;

const logger = new Logger('AfterCommit');

/** A transaction on a connection of its own, or a savepoint of one. */
export class OwnTransaction {
  open = true;
  readonly waiters: Waiter[] = [];
  /** The first write in it that isn't its own. */
  strange?: string;
  /**
   * What the flow that alone has used it takes for its outcome, if its end was that of another one, left open within: whoever comes
   * ends this one, as TypeORM counts.
   */
  left?: Outcome;
  /** True if the last end of its flow was that of another one. False if nothing could be ended, as on a lost connection. */
  hasEndedOther = false;

  /**
   * @param runner the query runner whose transaction it is
   * @param around the transaction that the flow is in when it begins this one
   * @param isApart true if only the flow that begins it uses it
   */
  constructor(
    readonly runner: object,
    readonly around: OwnTransaction | undefined,
    readonly isApart: boolean,
  ) {}

  /** Called when the flow that alone has used it is over. */
  flowIsOver(outcome: Outcome): void {
    if (this.open && this.hasEndedOther) this.left = outcome;
  }

  /** True for a transaction within another one, or the same. */
  isWithin(other: OwnTransaction): boolean {
    return this === other || (this.around?.isWithin(other) ?? false);
  }

  /** This transaction, or the innermost one around it that is still open. */
  get orAround(): OwnTransaction | undefined {
    return this.open ? this : this.around?.orAround;
  }
}

/**
 * Calls all waiters, even if one fails. A failure after a rollback is only logged, so that it doesn't hide the reason
 * of the rollback.
 */
export async function settle(waiters: Waiter[], outcome: Outcome): Promise<void> {
  const failures: unknown[] = [];
  for (const waiter of waiters.splice(0)) {
    try {
      await waiter(outcome);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0 && outcome === 'Commit') throw failures[0];
}

/** A failing listener changes nothing: the transaction is committed. */
export function callListener(listener: () => unknown): void {
  const called = new Promise((resolve) => resolve(listener()));
  called.catch((error: unknown) => logger.error({ err: error }, 'A listener of afterCommit() failed'));
}
