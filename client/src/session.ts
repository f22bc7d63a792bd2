import { isApiError } from './api-error.js';
import { pause, type RetryOptions } from './repetition.js';
import type { Tokens, TokenStore } from './token-store.js';

/** What `/auth/tokens` answers. */
interface Pair {
  access_token: string;
  expires_in: number;
  refresh_token: string;
}

/** Sends a request to `/auth/tokens`, without an access token. */
export type SendCredentials = (
  method: string,
  body: object,
  retry: RetryOptions,
  signal?: AbortSignal,
) => Promise<unknown>;

export interface SessionOptions {
  store: TokenStore;
  send: SendCredentials;
  /** Called when the session has ended without {@link Session.signOut}, so that its user has to sign in again. */
  onSignedOut?: () => void;
}

interface Cancellation {
  signal?: AbortSignal;
}

/** People wait for these, so a limit that lasts longer is an error. */
const SIGNING: RetryOptions = { attempts: 4, seconds: 10, firstDelay: 200, longestDelay: 2_000 };
/** An access token is exchanged this long before its end, in milliseconds, or when a tenth of its time is left. */
const EARLY = 10_000;
/**
 * An exchange whose answer was lost is repeated within the ten seconds in which the service takes a spent refresh token for
 * a repetition. Later the service takes it for a stolen one.
 */
const EXCHANGE: RetryOptions = { attempts: 4, seconds: 6, firstDelay: 200, longestDelay: 1_000 };
/** How long another tab may hold the lock, in milliseconds. A tab that the browser has frozen holds it for ever. */
const LOCK_PATIENCE = 15_000;
/** How long the lock is kept after an exchange, in milliseconds: what a tab writes reaches the other ones a little later. */
const LINGER = 100;
/** When to look for the tokens that another tab has got, in milliseconds after the last look. */
const LOOKS = [0, 100, 300, 600, 1_000];

/** Signs in and out, and exchanges tokens before they end: once for all requests of all tabs. */
export class Session {
  private exchanging: Promise<Tokens | undefined> | undefined;

  constructor(private readonly options: SessionOptions) {}

  /** @param credentials `username` may be the e-mail address */
  async signIn(credentials: { username: string; password: string }, { signal }: Cancellation = {}): Promise<void> {
    const pair = (await this.options.send('POST', credentials, SIGNING, signal)) as Pair;
    await this.options.store.write(tokensOf(pair));
  }

  /** Ends the session, here in any case, and at the service if it can be reached. */
  async signOut({ signal }: Cancellation = {}): Promise<void> {
    await this.exchanging?.catch(() => undefined);
    const { store, send } = this.options;
    const tokens = await store.read();
    await store.write(undefined);
    if (!tokens) return;
    await send('DELETE', { refresh_token: tokens.refreshToken }, SIGNING, signal).catch(unlessUnauthorized);
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.options.store.read()) !== undefined;
  }

  /** An access token that has not ended, or undefined if nobody is signed in. */
  async accessToken(): Promise<string | undefined> {
    const tokens = await this.options.store.read();
    if (!tokens || tokens.accessExpiresAt > Date.now()) return tokens?.accessToken;
    return this.renewed(tokens.accessToken);
  }

  /**
   * An access token to use after this one, which the service has refused or which ends.
   * @throws {ApiError} 401 if the session has ended
   */
  async renewed(spent: string): Promise<string | undefined> {
    this.exchanging ??= this.alone(() => this.exchange(spent)).finally(() => (this.exchanging = undefined));
    return (await this.exchanging)?.accessToken;
  }

  /** One tab after the other, where the tabs share their tokens and the browser has the Web Locks API. */
  private alone(exchange: () => Promise<Tokens | undefined>): Promise<Tokens | undefined> {
    const { shared } = this.options.store;
    const { locks } = (globalThis as { navigator?: Partial<Navigator> }).navigator ?? {};
    if (shared === undefined || !locks) return exchange();
    return new Promise((resolve, reject) => {
      const held = () =>
        exchange()
          .then(resolve, reject)
          .then(() => pause(LINGER));
      const alone = () => exchange().then(resolve, reject);
      locks.request(`${shared} tokens`, { signal: AbortSignal.timeout(LOCK_PATIENCE) }, held).catch(alone);
    });
  }

  private async exchange(spent: string): Promise<Tokens | undefined> {
    const { store, send } = this.options;
    const held = await store.read();
    if (held?.accessToken !== spent) return held;
    try {
      const tokens = tokensOf((await send('PUT', { refresh_token: held.refreshToken }, EXCHANGE)) as Pair);
      if (isSame(await store.read(), held)) await store.write(tokens);
      return tokens;
    } catch (error) {
      unlessUnauthorized(error);
      return (await this.tokensOfAnother(held)) ?? this.end(error as Error);
    }
  }

  /** Another tab without a lock may have exchanged the same token, and writes what it has got. */
  private async tokensOfAnother(held: Tokens): Promise<Tokens | undefined> {
    const { store } = this.options;
    if (store.shared === undefined) return undefined;
    for (const delay of LOOKS) {
      await pause(delay);
      const tokens = await store.read();
      if (!isSame(tokens, held)) return tokens;
    }
    return undefined;
  }

  private async end(error: Error): Promise<never> {
    await this.options.store.write(undefined);
    this.options.onSignedOut?.();
    throw error;
  }
}

const isSame = (one: Tokens | undefined, other: Tokens): boolean => one?.refreshToken === other.refreshToken;

function tokensOf({ access_token, expires_in, refresh_token }: Pair): Tokens {
  const lifetime = expires_in * 1000;
  const accessExpiresAt = Date.now() + lifetime - Math.min(EARLY, lifetime / 10);
  return { accessToken: access_token, accessExpiresAt, refreshToken: refresh_token };
}

/** @throws every error but 401 */
function unlessUnauthorized(error: unknown): void {
  if (!isApiError(error) || error.status !== 401) throw error;
}
