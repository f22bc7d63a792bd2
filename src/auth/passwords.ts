import { hash, verify } from '@node-rs/argon2';

/** argon2id is the library's default algorithm; costs from the OWASP Password Storage Cheat Sheet. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Made once, so that an unknown user costs the same time as a wrong password. */
const nobodysHash = hash('nobody has this password', COSTS);

/** Hashes in the thread pool, off the event loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, COSTS);
}

/** False, after the same time, when there is no hash to compare with. */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const matches = await verify(stored ?? (await nobodysHash), password);
  return matches && Boolean(stored);
}
