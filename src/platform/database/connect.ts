import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { StartupError } from '../config/startup-error';
import { ConnectionError, reasonOf } from '../transactions/connection-error';

const ATTEMPTS = 5;
const DELAY_MS = 2_000;

/**
 * Errors that may pass: the connection is refused, the host isn't known yet, the server starts or stops (08, 57P), has
 * no connection to spare (53), or its database accepts none at the moment (55000).
 */
const PASSING = /^(ECONN|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|08|57P|53|55000)/;
/** node-postgres has no error code for its own time limit, nor for a server that hangs up. */
const PASSING_MESSAGE = /timeout|terminated/i;

const logger = new Logger('Database');

/**
 * Connects a data source. A database that starts together with the service is often ready a little later, so passing
 * errors are retried a few times. Others, e.g. a wrong password, aren't.
 * @throws {StartupError}
 */
export async function connect(options: PostgresDataSourceOptions): Promise<DataSource> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await new DataSource(options).initialize();
    } catch (thrown) {
      const error = thrown instanceof ConnectionError ? thrown.cause : thrown;
      const reason = reasonOf(error);
      if (!isPassing(error)) throw new StartupError(`The database refuses the service: ${reason}`, { cause: error });
      if (attempt === ATTEMPTS) throw new StartupError(`The database can't be reached: ${reason}`, { cause: error });
      logger.warn(`The database can't be reached (${reason}), attempt ${attempt} of ${ATTEMPTS}`);
      await sleep(DELAY_MS);
    }
  }
}

function isPassing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return PASSING.test(code ?? '') || PASSING_MESSAGE.test(reasonOf(error));
}
