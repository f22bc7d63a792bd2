import { MAX_ID } from './resource.entity';

const DECIMAL = /^[1-9]\d{0,18}$/;
/** The greatest id of PostgreSQL. */
export const MAX_INT64 = 2n ** 63n - 1n;
const DIGITS = String(MAX_INT64).length;

/** Parses a decimal integer from 1 to 2^63-1. Undefined for anything else, even if JavaScript reads it as a number. */
export function parseId(text: string): number | undefined {
  // A shorter text needs no BigInt, which takes V8 half a microsecond.
  if (!DECIMAL.test(text) || (text.length === DIGITS && BigInt(text) > MAX_INT64)) return undefined;
  // No id is above MAX_ID, so all greater numbers are not found, and need not be exact (D-38).
  return Math.min(Number(text), MAX_ID + 1);
}
