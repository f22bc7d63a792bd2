import { settle } from './after-commit';
import { apart } from './place';
import type { SharedTransaction } from './shared-transaction';
import { UnitOfWork } from './unit-of-work';

/**
 * Runs `work` in a savepoint, to which everything belongs that is done meanwhile, by whichever manager. A failure undoes
 * all of it, and nothing else of the transaction.
 */
export function inSavepoint<T>(shared: SharedTransaction, work: () => Promise<T>): Promise<T> {
  return apart(async () => {
    const frame = shared.newFrame(shared, undefined);
    frame.takesAll = true;
    UnitOfWork.enter(frame);
    await shared.begin(frame);
    try {
      const result = await work();
      await shared.commit(frame);
      return result;
    } catch (error) {
      await shared.rollback(frame);
      await settle(frame.waiters, 'Rollback');
      throw error;
    }
  });
}
