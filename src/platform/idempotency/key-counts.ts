import { minutes } from '../units';

/** The part of the keys that are left to a caller which it may claim without being counted again. */
const PART = 1 / 20;
/** How long a count is relied on, in milliseconds. */
const LIFETIME = minutes(1);
/** Callers whose counts are remembered. */
const MAX_CALLERS = 10_000;

interface Allowance {
  /** Claims that are left. */
  left: number;
  /** By the clock of `performance`. */
  until: number;
}

/**
 * Knows which callers are so far from the limit of their keys that they needn't be counted: to count thousands of keys
 * takes PostgreSQL 2 ms. Only a count refuses a key. Near the limit each claim is counted, so one process alone never
 * allows more because of this class. Each further process may allow a 20th of the limit more, in the minute after its
 * last count.
 */
export class KeyCounts {
  private readonly allowances = new Map<string, Allowance>();

  /** @param limit of the keys of a caller */
  constructor(private readonly limit: number) {}

  /** Whether the next claim of a caller has to be counted. If not, the claim is subtracted from what the caller may do. */
  mustCount(caller: string): boolean {
    const allowance = this.allowances.get(caller);
    if (!allowance || allowance.until < performance.now()) return true;
    if (--allowance.left === 0) this.allowances.delete(caller);
    return false;
  }

  /** Whether a caller with so many keys, as counted right now, may claim one more. */
  allows(caller: string, count: number): boolean {
    const left = Math.floor((this.limit - count) * PART);
    this.allowances.delete(caller);
    if (left > 0) this.remember(caller, { left, until: performance.now() + LIFETIME });
    return count < this.limit;
  }

  private remember(caller: string, allowance: Allowance): void {
    if (this.allowances.size >= MAX_CALLERS) this.allowances.delete(this.allowances.keys().next().value!);
    this.allowances.set(caller, allowance);
  }
}
