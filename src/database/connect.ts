import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { StartupError } from '../config/startup-error';

const ATTEMPTS = 5;
const DELAY_MS = 2_000;

/** Nobody listens there, the host isn't known yet, the server is about to start, or has no connection to spare. */
const PASSING = /^(ECONN|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P03|53300)/;

const logger = new Logger('Database');

/**
 * Connects a data source. A database that starts together with the service is often a little later, so it gets a few
 * tries; one that refuses the password gets one.
 * @throws {StartupError}
 */
export async function connect(options: PostgresDataSourceOptions): Promise<DataSource> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await new DataSource(options).initialize();
    } catch (error) {
      const reason = reasonOf(error);
      if (!isPassing(error)) throw new StartupError(`The database refuses the service: ${reason}`, { cause: error });
      if (attempt === ATTEMPTS) throw new StartupError(`The database can't be reached: ${reason}`, { cause: error });
      logger.warn(`The database can't be reached (${reason}), attempt ${attempt} of ${ATTEMPTS}`);
      await sleep(DELAY_MS);
    }
  }
}

function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  // node-postgres has no code for its own time-out.
  return PASSING.test(code ?? '') || /timeout/i.test(message);
}

/** A host with several addresses fails with one error for each of them, and no message. */
function reasonOf(error: unknown): string {
  const { message, errors = [] } = error as { message: string; errors?: Error[] };
  return message || errors.map((each) => each.message).join(', ');
}
