import { Injectable } from '@nestjs/common';
import { ApiError } from '../../platform';
import { identityKey } from '../../platform/accounts';
import {
  type Count,
  type Counter,
  type Hit,
  networkOf,
  NETWORKS_OF_SITE,
  RateLimits,
  siteOf,
} from '../../platform/features';
import { SignInSettings } from './sign-in-settings';

/** The window of an account's failures from all addresses, in seconds. */
const ACCOUNT_WINDOW = 600;
/** How long a client's wait is remembered, in seconds: it may come back later than it was told. */
const WAIT_WINDOW = 600;

/** The counters of a sign-in, by the typed name and the address. They don't depend on whether the account exists. */
export interface Attempt {
  /** The typed name. Two names of one account count separately (D-110). */
  name: string;
  /** The name and the network together. */
  pair: string;
  /** The hits that were counted for the address, and for its site. */
  charges: Charge[];
}

interface Charge {
  counter: Counter;
  key: string;
  hit: Hit;
}

/** The limit that has refused an attempt, for the log. */
export type SignInLimit = 'account_and_address' | 'address' | 'account';

/** 429 instead of checking the password, or instead of the result. */
export class TooManyFailures extends ApiError {
  /** @param seconds the time until the next attempt is allowed */
  constructor(
    readonly limit: SignInLimit,
    seconds: number,
  ) {
    super('TOO_MANY_REQUESTS', {
      message: 'Too many failed sign-ins, try again later',
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

/**
 * Limits guesses of passwords: for one account from one address, for all accounts from one address, and for one account
 * from all addresses. The last limit is a delay: once it applies, each address must wait before each attempt. No
 * address waits for the attempts of another, so the owner can sign in after one wait.
 */
@Injectable()
export class SignInLimits {
  private readonly pairs: Counter;
  private readonly addresses: Counter;
  /** Of IPv6: one subscriber may have many addresses, each of another network. */
  private readonly sites: Counter;
  private readonly accounts: Counter;
  private readonly waits: Counter;

  constructor(
    limits: RateLimits,
    private readonly settings: SignInSettings,
  ) {
    const { LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW, LOGIN_ADDRESS_LIMIT, LOGIN_ACCOUNT_LIMIT } = settings;
    this.pairs = limits.counter('sign-in', LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW);
    this.addresses = limits.counter('sign-in-address', LOGIN_ADDRESS_LIMIT, LOGIN_RATE_WINDOW);
    this.sites = limits.counter('sign-in-site', LOGIN_ADDRESS_LIMIT * NETWORKS_OF_SITE, LOGIN_RATE_WINDOW);
    this.accounts = limits.counter('sign-in-account', LOGIN_ACCOUNT_LIMIT, ACCOUNT_WINDOW);
    this.waits = limits.counter('sign-in-wait', 1, WAIT_WINDOW);
  }

  /**
   * Admits an attempt, and counts it for its address at once, because concurrent attempts cost as many hashes.
   * @throws {TooManyFailures}
   */
  async admit(username: string, address: string | undefined): Promise<Attempt> {
    const [name, network, site] = [identityKey(username), networkOf(address), siteOf(address)];
    const pair = JSON.stringify([name, network]);
    const [charge, ofPair, ofAccount] = await Promise.all([
      this.addresses.hit(network),
      this.pairs.peek(pair),
      this.accounts.peek(name),
    ]);
    const attempt: Attempt = { name, pair, charges: [{ counter: this.addresses, key: network, hit: charge }] };
    requireAtMost(charge, this.settings.LOGIN_ADDRESS_LIMIT, 'address');
    if (site !== undefined) {
      // After the network's own limit, so that one network alone doesn't spend what all of the site have.
      const hit = await this.sites.hit(site);
      attempt.charges.push({ counter: this.sites, key: site, hit });
      requireAtMost(hit, this.settings.LOGIN_ADDRESS_LIMIT * NETWORKS_OF_SITE, 'address');
    }
    requireAtMost(ofPair, this.settings.LOGIN_RATE_LIMIT - 1, 'account_and_address');
    if (ofAccount.hits >= this.settings.LOGIN_ACCOUNT_LIMIT) await this.requireWaited(attempt);
    return attempt;
  }

  /**
   * True if a right password is accepted. Of many concurrent guesses no more than the limit learn their result, even if
   * it is right.
   */
  async accepts({ pair }: Attempt): Promise<boolean> {
    return (await this.pairs.peek(pair)).hits < this.settings.LOGIN_RATE_LIMIT;
  }

  /**
   * Takes the hit of the address back, for an attempt that succeeded, or failed for a reason other than its
   * credentials.
   */
  async giveBack({ charges }: Attempt): Promise<void> {
    await Promise.all(charges.map(({ counter, key, hit }) => counter.giveBack(key, hit)));
  }

  /**
   * Counts a failure first and checks the limit then: checking first would let all concurrent attempts pass.
   * @throws {TooManyFailures}
   */
  async failed({ name, pair }: Attempt): Promise<void> {
    const [ofPair] = await Promise.all([this.pairs.hit(pair), this.accounts.hit(name)]);
    requireAtMost(ofPair, this.settings.LOGIN_RATE_LIMIT, 'account_and_address');
  }

  /** After the wait, one attempt of the address is admitted, and the next wait begins. */
  private async requireWaited({ pair }: Attempt): Promise<void> {
    const { LOGIN_ACCOUNT_DELAY: delay } = this.settings;
    const { hits, resetsIn } = await this.waits.hit(pair);
    const left = hits === 1 ? delay : delay - (WAIT_WINDOW - resetsIn);
    if (left > 0) throw new TooManyFailures('account', left);
    if (!(await this.waits.forget(pair))) throw new TooManyFailures('account', delay);
  }
}

function requireAtMost({ hits, resetsIn }: Count, most: number, limit: SignInLimit): void {
  if (hits > most) throw new TooManyFailures(limit, resetsIn);
}
