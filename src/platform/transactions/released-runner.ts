import { type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { LentRunner } from './lent-runner';

const MESSAGE =
  'A manager or a query runner was used after its transaction had ended, so it has no connection any more. Await ' +
  'everything inside of transaction(), and after it use the manager of the data source, or a repository';

/** A mistake in the code. The same error of TypeORM's own is that of a connection that was lost. */
export class ReleasedError extends QueryRunnerAlreadyReleasedError {
  constructor() {
    super();
    this.message = MESSAGE;
  }
}

/** TypeORM's, which tells a use after its release from one after the loss of its connection. */
export class ReleasedRunner extends LentRunner {
  /** Whether its owner has released it. */
  isGivenBack = false;

  override query(...parameters: Parameters<LentRunner['query']>): ReturnType<LentRunner['query']> {
    return unlessReleased(this, () => super.query(...parameters));
  }

  override stream(...parameters: Parameters<LentRunner['stream']>): ReturnType<LentRunner['stream']> {
    return unlessReleased(this, () => super.stream(...parameters));
  }

  override release(): Promise<void> {
    // One that has lost its connection is released already.
    this.isGivenBack ||= !this.isReleased;
    return super.release();
  }
}

/** @throws {ReleasedError} for a runner that its owner has released, as a rejection */
export function unlessReleased<T>(runner: QueryRunner | undefined, work: () => Promise<T>): Promise<T> {
  const isOver = runner instanceof ReleasedRunner && runner.isReleased && runner.isGivenBack;
  return isOver ? Promise.reject(new ReleasedError()) : work();
}
