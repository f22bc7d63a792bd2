import { Logger } from '@nestjs/common';
import { MS_PER_SECOND } from '../units';

/** From half a second on, somebody who looks at the terminal wonders. */
const PATIENCE_MS = MS_PER_SECOND / 2;

const logger = new Logger('Start');

/**
 * Logs what the start is at, if that takes long.
 * @param line e.g. `Migrating the database`
 */
export async function inSlowStep<T>(line: string, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => logger.log(line), PATIENCE_MS).unref();
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
