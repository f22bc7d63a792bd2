import { ServiceUnavailableException } from '@nestjs/common';
import type { Response } from 'express';
import { compress, type Encoding } from '../http/compressed';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';

/** Answers that may wait. The others are sent as they are. */
const MAX_WAITING = 1_000;

/**
 * Two at once: libuv has four threads, whose queue knows no networks, and files, passwords and name look-ups need them
 * too.
 */
export const compressing = new Semaphore(2, MAX_WAITING);

/**
 * Compresses a body when its network has its turn. Undefined if too many wait or the client has gone: an answer whose
 * effect is committed must not become an error.
 */
export async function compressInTurn(
  response: Response,
  body: string | Buffer,
  encoding: Encoding,
  length: number,
): Promise<Buffer | undefined> {
  const leaving = () => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return gone.signal;
  };
  try {
    return await compressing.run(() => compress(body, encoding, length), leaving, queueKeysOf(response.req.ip));
  } catch (error) {
    if (error instanceof ServiceUnavailableException) return undefined;
    throw error;
  }
}
