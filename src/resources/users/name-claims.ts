import { Injectable } from '@nestjs/common';
import { ApiError, UnitOfWork } from '../../platform';
import { SecurityEvents } from '../../platform/accounts';
import { type Counter, type Hit, networkOf, NETWORKS_OF_SITE, RateLimits, siteOf } from '../../platform/features';
import { UserSettings } from './user-settings';

const SERVER_ERROR = 500;

/**
 * Limits how often usernames and e-mail addresses are claimed. The answer reveals whether a name is taken, so nobody
 * may try many names, by registering or by renaming a user repeatedly.
 */
@Injectable()
export class NameClaims {
  /** Registrations by network. Changes of names count here too. */
  private readonly registrations: Counter;
  /** The same by site: one subscriber of IPv6 may have many networks. */
  private readonly sites: Counter;
  /** Changes by user. */
  private readonly changes: Counter;

  constructor(
    limits: RateLimits,
    private readonly events: SecurityEvents,
    private readonly settings: UserSettings,
  ) {
    const { REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW, RENAME_RATE_LIMIT, RENAME_RATE_WINDOW } = settings;
    this.registrations = limits.counter('registration', REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW);
    const ofSite = REGISTRATION_RATE_LIMIT * NETWORKS_OF_SITE;
    this.sites = limits.counter('registration-site', ofSite, REGISTRATION_RATE_WINDOW);
    this.changes = limits.counter('rename', RENAME_RATE_LIMIT, RENAME_RATE_WINDOW);
  }

  /** Counts a registration. @throws {ApiError} TOO_MANY_REQUESTS */
  async register(): Promise<void> {
    const { ip } = UnitOfWork.current()?.origin ?? {};
    const most = this.settings.REGISTRATION_RATE_LIMIT;
    await this.require(this.registrations, networkOf(ip), most);
    const site = siteOf(ip);
    if (site !== undefined) await this.require(this.sites, site, most * NETWORKS_OF_SITE);
  }

  /** Counts another username or e-mail address of a user. @throws {ApiError} TOO_MANY_REQUESTS */
  async rename(userId: number): Promise<void> {
    const { hits, resetsIn } = await this.count(this.changes, String(userId));
    if (hits <= this.settings.RENAME_RATE_LIMIT) return this.register();
    this.record('names of a user');
    throw tooManyNames(resetsIn);
  }

  private async require(counter: Counter, key: string, most: number): Promise<void> {
    const { hits, resetsIn } = await this.count(counter, key);
    if (hits <= most) return;
    this.record('registration by address');
    throw tooManyRegistrations(resetsIn);
  }

  /**
   * Counts a hit, and takes it back if the answer is 5xx, e.g. because the database is away: such an answer reveals
   * nothing about a name.
   */
  private async count(counter: Counter, key: string): Promise<Hit> {
    const response = UnitOfWork.current()?.origin?.res;
    const hit = await counter.hit(key);
    const settle = () => {
      if (response!.statusCode < SERVER_ERROR) return;
      // It is lost with a Redis that is away, which RateLimits logs.
      counter.giveBack(key, hit).catch(() => undefined);
    };
    // While it was counted, the time limit may have answered.
    if (response?.closed) settle();
    else response?.once('close', settle);
    return hit;
  }

  private record(limit: string): void {
    this.events.record('excess_rate_limit_exceeded', { outcome: 'failure', limit });
  }
}

/** @param seconds the time until the next registration is accepted */
export function tooManyRegistrations(seconds: number): ApiError {
  return tooMany('Too many registrations from your address, try again later', seconds);
}

/** @param seconds the time until the next change is accepted */
export function tooManyNames(seconds: number): ApiError {
  return tooMany('Too many changes of username and e-mail address, try again later', seconds);
}

function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', { message, headers: { 'Retry-After': String(seconds) } });
}
