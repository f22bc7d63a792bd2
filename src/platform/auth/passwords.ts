import { availableParallelism } from 'node:os';
import { ConflictException } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { UnitOfWork } from '../transactions/unit-of-work';
import { lineKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';

/** argon2id is the library's default algorithm; costs from the OWASP Password Storage Cheat Sheet. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Of the four threads that libuv has by default: files, name look-ups and compression need them as well. */
const MAX_THREADS = 3;
/** Hashes that may wait: some two seconds on two cores. */
const MAX_WAITING = 100;

/** One lane for all, in which the networks that requests come from take turns. */
export const hashing = new Semaphore(Math.min(availableParallelism(), MAX_THREADS), MAX_WAITING);

/** Made once, so that an unknown user costs the same time as a wrong password. */
const nobodysHash = hash('nobody has this password', COSTS);

/**
 * Hashes in the thread pool, off the event loop. Call it outside of transactions, which would hold a connection meanwhile.
 * @throws {ServiceUnavailableException} when too many wait for theirs already
 */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, COSTS));
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const { signal, origin } = UnitOfWork.current() ?? {};
  return hashing.run(work, signal, lineKeysOf(origin?.ip));
}

/** The users whose changes are being prepared. */
const changing = new Set<number>();

/**
 * Prepares a change of a user's password. Of each user one at a time: whoever sends many would take the places of all others.
 * @throws {ConflictException} while another one is being prepared
 */
export async function oneChangeOf<T>(userId: number, work: () => Promise<T>): Promise<T> {
  if (changing.has(userId)) throw new ConflictException('Another change of this user is in progress');
  changing.add(userId);
  try {
    return await work();
  } finally {
    changing.delete(userId);
  }
}

/**
 * False, after the same time, when there is no hash to compare with.
 * @throws {ServiceUnavailableException} when too many wait for theirs already
 */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const known = stored ?? (await nobodysHash);
  const matches = await inTurn(() => verify(known, password));
  return matches && Boolean(stored);
}
