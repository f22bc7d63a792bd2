import { availableParallelism } from 'node:os';
import { ConflictException } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { UnitOfWork } from '../transactions/unit-of-work';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';

/** argon2id is the library's default algorithm. The costs are those of the OWASP Password Storage Cheat Sheet. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** libuv has four threads by default. One is left for files, DNS look-ups and compression. */
const MAX_THREADS = 3;
/** The number of hashes that may wait: about two seconds' work on two cores. */
const MAX_WAITING = 100;

/** Limits concurrent hashing in this process. Client networks take turns. */
export const hashing = new Semaphore(Math.min(availableParallelism(), MAX_THREADS), MAX_WAITING);

/** Computed once, so that an unknown user costs as much time as a wrong password. */
const nobodysHash = hash('nobody has this password', COSTS);

/**
 * Hashes in the thread pool, off the event loop. Call it outside of transactions: a transaction would hold its
 * connection meanwhile.
 * @throws {ServiceUnavailableException} when too many hashes wait already
 */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, COSTS));
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const { signal, origin } = UnitOfWork.current() ?? {};
  return hashing.run(work, signal, queueKeysOf(origin?.ip));
}

/** The ids of users whose password change is being prepared. */
const changing = new Set<number>();

/**
 * Prepares a change of a user's password. Each user has one at a time: otherwise one user could occupy all hashing
 * slots.
 * @throws {ConflictException} while another change of the user is being prepared
 */
export async function oneChangeAtATime<T>(userId: number, work: () => Promise<T>): Promise<T> {
  if (changing.has(userId)) throw new ConflictException('Another change of this user is in progress');
  changing.add(userId);
  try {
    return await work();
  } finally {
    changing.delete(userId);
  }
}

/**
 * Compares a password with a stored hash. Returns false, after the same time, if there is no hash.
 * @throws {ServiceUnavailableException} when too many hashes wait already
 */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const known = stored ?? (await nobodysHash);
  const matches = await inTurn(() => verify(known, password));
  return matches && Boolean(stored);
}
