import { Injectable } from '@nestjs/common';
import { ApiError, type Counter, type Hit, networkOf, RateLimits, SecurityEvents, UnitOfWork } from '../../platform';
import { UserSettings } from './user-settings';

const SERVER_ERROR = 500;

/**
 * Limits how often usernames and e-mail addresses are claimed. That a name is taken tells that somebody has it, so nobody may
 * ask for many names, be it by registering or by changing a user back and forth.
 */
@Injectable()
export class NameClaims {
  /** By network; changes count with them. */
  private readonly registrations: Counter;
  /** By user. */
  private readonly changes: Counter;

  constructor(
    limits: RateLimits,
    private readonly events: SecurityEvents,
    private readonly settings: UserSettings,
  ) {
    const { REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW, RENAME_RATE_LIMIT, RENAME_RATE_WINDOW } = settings;
    this.registrations = limits.counter('registration', REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW);
    this.changes = limits.counter('rename', RENAME_RATE_LIMIT, RENAME_RATE_WINDOW);
  }

  /** Counts a registration. @throws {ApiError} TOO_MANY_REQUESTS */
  async register(): Promise<void> {
    const { ip } = UnitOfWork.current()?.origin ?? {};
    const { hits, resetsIn } = await this.count(this.registrations, networkOf(ip));
    if (hits <= this.settings.REGISTRATION_RATE_LIMIT) return;
    this.record('registration by address');
    throw tooManyRegistrations(resetsIn);
  }

  /** Counts another username or e-mail address of a user. @throws {ApiError} TOO_MANY_REQUESTS */
  async rename(userId: number): Promise<void> {
    const { hits, resetsIn } = await this.count(this.changes, String(userId));
    if (hits <= this.settings.RENAME_RATE_LIMIT) return this.register();
    this.record('names of a user');
    throw tooManyNames(resetsIn);
  }

  /** What is answered 5xx, e.g. as the database is away, has told nothing of a name, and counts no more. */
  private async count(counter: Counter, key: string): Promise<Hit> {
    const response = UnitOfWork.current()?.origin?.res;
    const hit = await counter.hit(key);
    response?.once('close', () => {
      if (response.statusCode < SERVER_ERROR) return;
      // It is lost with a Redis that is away, which RateLimits logs.
      counter.giveBack(key, hit).catch(() => undefined);
    });
    return hit;
  }

  private record(limit: string): void {
    this.events.record('excess_rate_limit_exceeded', { outcome: 'failure', limit });
  }
}

/** @param seconds until the next registration is accepted */
export function tooManyRegistrations(seconds: number): ApiError {
  return tooMany('Too many registrations from your address, try again later', seconds);
}

/** @param seconds until the next change of a username or an e-mail address is accepted */
export function tooManyNames(seconds: number): ApiError {
  return tooMany('Too many changes of username and e-mail address, try again later', seconds);
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', { message, headers: { 'Retry-After': String(seconds) } });
}
