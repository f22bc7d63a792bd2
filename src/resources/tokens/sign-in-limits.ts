import { Injectable } from '@nestjs/common';
import { ApiError, type Count, type Counter, type Hit, identityKey, networkOf, RateLimits } from '../../platform';
import { SignInSettings } from './sign-in-settings';

/** In which the failures of an account count, from whatever addresses, in seconds. */
const ACCOUNT_WINDOW = 600;
/** How long an address that was told to wait is known, in seconds: it may come back later than it was told. */
const WAIT_WINDOW = 600;

/** What a sign-in is counted under: what was typed, and where from. Whether there is such an account makes no difference. */
export interface Attempt {
  /** The name that was typed: two names of one account are two, or a limit would tell that they belong together. */
  name: string;
  network: string;
  /** Both. */
  pair: string;
  /** What its address is charged with. */
  charge: Hit;
}

/** What an attempt is refused by; named in the log. */
export type SignInLimit = 'account_and_address' | 'address' | 'account';

/** 429 before the password was looked at, or instead of what came of it. */
export class TooManyFailures extends ApiError {
  /** @param seconds until the next attempt is looked at */
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
 * How often a password may be guessed: at one account from one address, from one address at whatever accounts, and at one
 * account from whatever addresses. The last is a delay: once it is on, each address waits before each of its attempts. No
 * address waits because of another's attempts, so the owner, wherever it is, gets in after one wait.
 */
@Injectable()
export class SignInLimits {
  private readonly pairs: Counter;
  private readonly addresses: Counter;
  private readonly accounts: Counter;
  private readonly waits: Counter;

  constructor(
    limits: RateLimits,
    private readonly settings: SignInSettings,
  ) {
    const { LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW, LOGIN_ADDRESS_LIMIT, LOGIN_ACCOUNT_LIMIT } = settings;
    this.pairs = limits.counter('sign-in', LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW);
    this.addresses = limits.counter('sign-in-address', LOGIN_ADDRESS_LIMIT, LOGIN_RATE_WINDOW);
    this.accounts = limits.counter('sign-in-account', LOGIN_ACCOUNT_LIMIT, ACCOUNT_WINDOW);
    this.waits = limits.counter('sign-in-wait', 1, WAIT_WINDOW);
  }

  /**
   * Lets an attempt go on to the password. Its address is charged now, as many that are in flight at once cost as many
   * hashes.
   * @throws {TooManyFailures}
   */
  async admit(username: string, address: string | undefined): Promise<Attempt> {
    const [name, network] = [identityKey(username), networkOf(address)];
    const pair = JSON.stringify([name, network]);
    const [charge, ofPair, ofAccount] = await Promise.all([
      this.addresses.hit(network),
      this.pairs.peek(pair),
      this.accounts.peek(name),
    ]);
    const attempt = { name, network, pair, charge };
    requireAtMost(charge, this.settings.LOGIN_ADDRESS_LIMIT, 'address');
    requireAtMost(ofPair, this.settings.LOGIN_RATE_LIMIT - 1, 'account_and_address');
    if (ofAccount.hits >= this.settings.LOGIN_ACCOUNT_LIMIT) await this.requireWaited(attempt);
    return attempt;
  }

  /**
   * Whether a right password counts. Of many guesses at once no more than the limit learn anything, the right one neither.
   */
  async accepts({ pair }: Attempt): Promise<boolean> {
    return (await this.pairs.peek(pair)).hits < this.settings.LOGIN_RATE_LIMIT;
  }

  /** For an attempt that succeeded, or failed for another reason than what was sent: its address isn't charged. */
  async giveBack({ network, charge }: Attempt): Promise<void> {
    await this.addresses.giveBack(network, charge);
  }

  /**
   * Counted after the fact and then looked at: a limit that is read first lets all that are in flight pass.
   * @throws {TooManyFailures}
   */
  async failed({ name, pair }: Attempt): Promise<void> {
    const [ofPair] = await Promise.all([this.pairs.hit(pair), this.accounts.hit(name)]);
    requireAtMost(ofPair, this.settings.LOGIN_RATE_LIMIT, 'account_and_address');
  }

  /** Of those that have waited at this address, one goes on; the next begins to wait. */
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
