import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporary, unavailable } from './s3-errors';
import type { Spool } from './spool';

const ATTEMPTS = 3;
/** The pause before the second attempt, in milliseconds. It is doubled before the third. */
const PAUSE = 200;

/** What the SDK is given: the bytes, and the signal that ends the request. */
export interface Sending {
  body: { Body: Readable; ContentLength: number };
  abortSignal: AbortSignal;
}

/** Sends a spooled part, with retries. The SDK retries everything but streams. */
export async function send(spool: Spool, request: (sending: Sending) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(spool, request);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      if (attempt === ATTEMPTS) throw unavailable(error);
      await sleep(PAUSE * attempt);
    }
  }
}

/**
 * The SDK doesn't listen for a failure of the body, which would end the process, and goes on to read the body of a
 * request that was answered early, when the spool is closed.
 */
async function sendOnce(spool: Spool, request: (sending: Sending) => Promise<unknown>): Promise<void> {
  const Body = spool.read();
  const failed = new Promise<never>((_, reject) => Body.on('error', reject));
  const end = new AbortController();
  try {
    const sending = { body: { Body, ContentLength: spool.length }, abortSignal: end.signal };
    await Promise.race([request(sending), failed]);
  } catch (error) {
    end.abort();
    throw error;
  } finally {
    Body.destroy();
  }
}
