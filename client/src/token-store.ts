/** What a session consists of. Times are in milliseconds since 1970, by the clock of this machine. */
export interface Tokens {
  accessToken: string;
  /** When to exchange it, shortly before its end. */
  accessExpiresAt: number;
  refreshToken: string;
}

type Eventually<T> = T | Promise<T>;

/** Where tokens are kept between requests. */
export interface TokenStore {
  read(): Eventually<Tokens | undefined>;
  write(tokens: Tokens | undefined): Eventually<void>;
  /** The name of what several tabs share: they exchange its tokens one after the other. */
  shared?: string;
}

/** Keeps tokens until the page or the process ends. */
export function memoryStore(tokens?: Tokens): TokenStore {
  let held = tokens;
  return {
    read: () => held,
    write: (next) => {
      held = next;
    },
  };
}

/**
 * Keeps tokens in `localStorage`, for all tabs of an origin and for the next visit. Every script of the page can read them
 * there: use it only on pages that run no script of others.
 * @param key the name of the entry
 */
export function webStore(key = 'resource-api', storage: Storage = localStorage): TokenStore {
  return {
    shared: key,
    read: () => tokensIn(storage.getItem(key)),
    write: (tokens) => {
      if (tokens) storage.setItem(key, JSON.stringify(tokens));
      else storage.removeItem(key);
    },
  };
}

/** Undefined for what something else has written there. */
function tokensIn(text: string | null): Tokens | undefined {
  try {
    const tokens = JSON.parse(text ?? 'null') as Tokens | null;
    return typeof tokens?.accessToken === 'string' && typeof tokens.refreshToken === 'string' ? tokens : undefined;
  } catch {
    return undefined;
  }
}
