import { Logger } from '@nestjs/common';

export type Outcome = 'Commit' | 'Rollback';
/** Called when the transaction has ended. */
export type Waiter = (outcome: Outcome) => void | Promise<void>;

const logger = new Logger('AfterCommit');

/** A transaction that a flow has begun. */
export interface Begun {
  open: boolean;
  isApart: boolean;
  isRefused: boolean;
  isPromised: boolean;
}

/**
 * Called when the flow that alone has used a transaction is over. If its end was that of another one, left open within, it
 * is left to whoever comes, as TypeORM does.
 */
export function passOn(begun: Begun, hasFailed: boolean): void {
  if (!begun.open) return;
  begun.isApart = false;
  if (hasFailed) begun.isRefused = true;
  else begun.isPromised = true;
}

/** A transaction on a connection of its own, or a savepoint of one. */
export class OwnTransaction {
  open = true;
  readonly waiters: Waiter[] = [];
  /** The first write in it that isn't its own. */
  strange?: string;
  /** True if its own flow is over by a failure, so that it must not be committed. */
  isRefused = false;
  /** True if its own flow is over and takes it for committed. */
  isPromised = false;

  /**
   * @param runner the query runner whose transaction it is
   * @param around the transaction that the flow is in when it begins this one
   * @param isApart true if only the flow that begins it uses it
   */
  constructor(
    readonly runner: object,
    readonly around: OwnTransaction | undefined,
    public isApart: boolean,
  ) {}

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
