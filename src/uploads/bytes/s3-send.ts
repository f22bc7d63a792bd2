import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporary, unavailable } from './s3-errors';
import type { Spool } from './spool';

const ATTEMPTS = 3;
/** The pause before the second attempt, in milliseconds. It is doubled before the third. */
const PAUSE = 200;

/** Sends a spooled part, with retries. The SDK retries everything but streams. */
export async function send(
  spool: Spool,
  request: (body: { Body: Readable; ContentLength: number }) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await request({ Body: spool.read(), ContentLength: spool.length }));
    } catch (error) {
      if (!isTemporary(error)) throw error;
      if (attempt === ATTEMPTS) throw unavailable(error);
      await sleep(PAUSE * attempt);
    }
  }
}
