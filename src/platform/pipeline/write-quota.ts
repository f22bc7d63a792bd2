import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isAdmin } from '../auth/caller';
import { SecurityEvents } from '../auth/security-events';
import { Settings } from '../config/settings';
import { ApiError } from '../errors/api-error';
import { neighbourhoodOf, networkOf } from '../limits/client-network';
import { type Counter, type Hit, RateLimits } from '../limits/rate-limits';
import { kibibytes, MS_PER_SECOND } from '../units';

/** The methods that make or change rows. */
const WRITES = new Set(['POST', 'PUT', 'PATCH']);
/** What a write counts besides its body, in bytes: a row takes room however short it is. */
const FOR_EACH = kibibytes(1);
/** An address, and a neighbourhood, may write as much as so many users, however many accounts they have. */
const OF_ADDRESS = 4;
const OF_NEIGHBOURHOOD = 16;
/** Where an address has written all it may, each of its users may write this part of a user's quota more. */
const REST = 1 / 1024;

/** Those who may write so much together in a window. */
interface Writers {
  /** Their name in the log. */
  name: string;
  quota: number;
  counter: Counter;
  keyOf: (request: Request) => number | string | undefined;
  /** Those who have written too much. */
  spent: Map<string, Spent>;
}

interface Spent {
  /** When the window ends, by the clock of `performance`. */
  until: number;
  /** What each user has written since then, in bytes. Undefined where there is nothing left for anybody. */
  rests?: Map<unknown, number>;
}

/**
 * Limits what callers write in a day, so that no account fills the tables which others list and search. Administrators
 * are not limited. Nobody waits for the count, so bodies that end in the same moment may pass the quota.
 */
@Injectable()
export class WriteQuota {
  private readonly writers: Writers[] = [];
  private readonly rest: number;

  constructor(
    { WRITE_QUOTA, WRITE_WINDOW }: Settings,
    limits: RateLimits,
    private readonly events: SecurityEvents,
  ) {
    const add = (group: string, users: number, keyOf: Writers['keyOf']) => {
      const quota = WRITE_QUOTA * users;
      const counter = limits.counter(`write-${group}`, quota, WRITE_WINDOW);
      this.writers.push({ name: `writes by ${group}`, quota, counter, keyOf, spent: new Map() });
    };
    this.rest = WRITE_QUOTA * REST;
    if (WRITE_QUOTA === 0) return;
    add('account', 1, ({ user }) => user?.id);
    add('address', OF_ADDRESS, ({ ip }) => networkOf(ip));
    add('neighbourhood', OF_NEIGHBOURHOOD, ({ ip }) => neighbourhoodOf(ip));
  }

  /**
   * Refuses a write of a caller who has written too much. Called before its body is read.
   * @param bytes the length of the body. Default: as it is announced
   * @returns false if the request doesn't count
   * @throws {ApiError} TOO_MANY_REQUESTS
   */
  admits(request: Request, bytes = Number(request.headers['content-length'] ?? 0)): boolean {
    if (!WRITES.has(request.method) || !request.user || isAdmin(request.user)) return false;
    for (const { name, spent, keyOf } of this.writers) {
      const state = spent.size > 0 ? stateOf(spent, String(keyOf(request))) : undefined;
      if (!state || this.restOf(state, request) >= FOR_EACH + bytes) continue;
      this.events.record('excess_rate_limit_exceeded', { outcome: 'failure', limit: name });
      throw writtenTooMuch(Math.max(1, Math.ceil((state.until - performance.now()) / MS_PER_SECOND)));
    }
    return true;
  }

  /**
   * Counts a write whose body is there. Others of the same caller may have come first.
   * @param bytes the length of the body, decompressed
   * @param others the number of further writes of the same request. Default: 0
   * @throws {ApiError} TOO_MANY_REQUESTS
   */
  count(request: Request, bytes: number, others = 0): void {
    const size = bytes + others * FOR_EACH;
    this.admits(request, size);
    const points = FOR_EACH + size;
    for (const { counter, keyOf, quota, spent } of this.writers) {
      const of = keyOf(request);
      // Callers by other credentials may have no id.
      if (of === undefined) continue;
      const key = String(of);
      const state = spent.get(key);
      state?.rests?.set(request.user!.id, this.rest - this.restOf(state, request) + points);
      const note = ({ hits, until }: Hit) => {
        if (hits > quota && !spent.has(key))
          spent.set(key, { until, rests: of === request.user!.id ? undefined : new Map() });
      };
      // Without Redis the limiter counts alone; what a stopping process doesn't count is lost with it.
      counter.hit(key, points).then(note, () => undefined);
    }
  }

  private restOf({ rests }: Spent, { user }: Request): number {
    return rests ? this.rest - (rests.get(user!.id) ?? 0) : 0;
  }
}

/** The state of those who have written too much; undefined if they may write. */
function stateOf(spent: Map<string, Spent>, key: string): Spent | undefined {
  const state = spent.get(key);
  if (!state || state.until > performance.now()) return state;
  spent.delete(key);
  return undefined;
}

/** 429. @param seconds the time until the caller may write again */
export const writtenTooMuch = (seconds: number): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too much was written by this account or from this address, try again later',
    headers: { 'Retry-After': String(seconds) },
  });
