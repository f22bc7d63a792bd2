import { Logger } from '@nestjs/common';

export type Outcome = 'Commit' | 'Rollback';
/** Told how the transaction has ended. */
export type Waiter = (outcome: Outcome) => void | Promise<void>;

const logger = new Logger('AfterCommit');

/** A transaction of a connection of its own, or a savepoint of one. */
export class OwnTransaction {
  open = true;
  readonly waiters: Waiter[] = [];

  /** @param around what the flow that begins it is inside of */
  constructor(private readonly around?: OwnTransaction) {}

  /** Itself, or what its flow is inside of, whichever hasn't ended. */
  get orAround(): OwnTransaction | undefined {
    return this.open ? this : this.around?.orAround;
  }
}

/** Tells all of them, whichever fails. What fails after a rollback hides nothing: its reason is on its way to the caller. */
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

/** What is committed stays so: a listener that fails, at once or later, fails for itself alone. */
export function callListener(listener: () => unknown): void {
  const called = new Promise((resolve) => resolve(listener()));
  called.catch((error: unknown) => logger.error({ err: error }, 'A listener of afterCommit() failed'));
}
