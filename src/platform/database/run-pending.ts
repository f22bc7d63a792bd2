import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type DataSource, MigrationExecutor, QueryFailedError, type QueryRunner } from 'typeorm';
import { StartupError } from '../config/startup-error';
import { inSlowStep } from '../logging/slow-step';
import { renewAudits } from '../rows/audit-rows';
import { seconds } from '../units';

/** How long a statement waits for a lock: everybody else who wants this table waits behind it. */
const LOCK_WAIT = seconds(2);
/** How long the others have the table then. */
const PAUSE = seconds(3);
const LOCK_NOT_AVAILABLE = '55P03';

const logger = new Logger('Migrations');

/**
 * Runs the pending migrations, each in its transaction. A migration that can't get a lock in time is undone and tried
 * again: an export may hold its table for minutes, and all requests of the table would wait behind the migration (D-265).
 * @param longestHold for how many milliseconds others may hold a table. No attempt begins after that and a little more
 * @throws {StartupError} when a lock couldn't be had for so long
 */
export async function runPending(dataSource: DataSource, longestHold: number): Promise<void> {
  if (!(await dataSource.showMigrations())) return renew(dataSource);
  const end = performance.now() + longestHold + PAUSE;
  await inSlowStep('Migrating the database', async () => {
    while (!(await tried(dataSource, end))) await sleep(PAUSE);
  });
}

/** For an audit that another release has made, or columns that were changed by hand. */
async function renew(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(({ queryRunner }) => renewAudits(queryRunner!));
}

/** @returns false if a lock couldn't be had, and there is time for another attempt. Migrations before that one are done */
async function tried(dataSource: DataSource, end: number): Promise<boolean> {
  const runner = impatient(dataSource.createQueryRunner());
  try {
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = dataSource.options.migrationsTransactionMode ?? 'each';
    await executor.executePendingMigrations();
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const { message } = error;
    if (performance.now() > end) {
      const text = `A migration waits in vain for a lock that others hold, such as a long export: ${message}`;
      throw new StartupError(text, { cause: error });
    }
    logger.warn(`A migration waits for a lock that others hold, and lets them pass: ${message}`);
    return false;
  } finally {
    await runner.release();
  }
}

function isLockTimeout(error: unknown): error is QueryFailedError<Error & { code?: string }> {
  return error instanceof QueryFailedError && (error.driverError as { code?: string }).code === LOCK_NOT_AVAILABLE;
}

/**
 * A migration without a transaction couldn't be undone, so it waits as long as it has to. The audit of a table follows its
 * columns before others see them.
 */
function impatient(runner: QueryRunner): QueryRunner {
  const start = runner.startTransaction.bind(runner);
  const commit = runner.commitTransaction.bind(runner);
  const commitTransaction: QueryRunner['commitTransaction'] = async () => {
    await renewAudits(runner);
    await commit();
  };
  const startTransaction: QueryRunner['startTransaction'] = async (isolation) => {
    await start(isolation);
    await runner.query(`SET LOCAL lock_timeout = ${LOCK_WAIT}`);
  };
  return Object.assign(runner, { startTransaction, commitTransaction });
}
