import type { ApiError } from './api-error.js';

/** When a failed request is sent again. */
export interface RetryOptions {
  /** How often a request is sent at most. Default: 6 */
  attempts: number;
  /** Seconds after which no further attempt begins. Default: 120 */
  seconds: number;
  /** Milliseconds before the second attempt, doubled for each further one; a random part of it is waited. Default: 250 */
  firstDelay: number;
  /** The longest of these delays, in milliseconds. Default: 10,000 */
  longestDelay: number;
}

export const RETRY: RetryOptions = { attempts: 6, seconds: 120, firstDelay: 250, longestDelay: 10_000 };

/** What a request may be sent again for. */
export interface Repeatability {
  /** Whether a second execution has no other effect than one. */
  isSafe: boolean;
  /** Whether it has an Idempotency-Key, so that 409 with Retry-After means that the first one is still in progress. */
  hasKey: boolean;
}

/** No answer, or that of a gateway: the service may have carried the request out. */
const LOST = [0, 502, 503, 504];
const effectless = new WeakSet<ApiError>();

/** Marks the error of something that a request needed first, so that the request itself has no effect. */
export function withoutEffect(error: ApiError): ApiError {
  effectless.add(error);
  return error;
}

/** At most this part of `Retry-After` is added, so that clients who were refused together don't come back together. */
const SPREAD = 0.25;

/**
 * Sends a request until it succeeds, or another attempt is not allowed.
 * @throws {ApiError} of the last attempt
 */
export async function repeat<T>(
  send: () => Promise<T>,
  request: Repeatability,
  retry: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  const end = Date.now() + retry.seconds * 1000;
  let uncertain = false;
  for (let attempts = 1; ; attempts++) {
    try {
      return await send();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isFailure(error)) throw error;
      uncertain ||= isLost(error) && !effectless.has(error);
      Object.assign(error, { attempts, uncertain });
      const delay = delayAfter(error, attempts, retry);
      const isAllowed = attempts < retry.attempts && isRepeatable(error, request) && Date.now() + delay <= end;
      if (!isAllowed) throw error;
      await pause(delay, signal);
    }
  }
}

const isFailure = (error: unknown): error is ApiError => (error as ApiError | undefined)?.name === 'ApiError';

/** A request that was refused by 429 or 409 had no effect. A lost answer may have had one. */
function isRepeatable(error: ApiError, { isSafe, hasKey }: Repeatability): boolean {
  if (error.status === 429) return true;
  if (error.status === 409) return hasKey && error.retryAfter !== undefined;
  return isLost(error) && (isSafe || effectless.has(error));
}

/** An unexpected answer without a status is a redirect in a browser. */
const isLost = ({ status, code }: ApiError): boolean => LOST.includes(status) && code !== 'UNEXPECTED_ANSWER';

/** Exponential backoff with full jitter, but not before `Retry-After` is over. In milliseconds. */
function delayAfter(
  { retryAfter = 0 }: ApiError,
  attempts: number,
  { firstDelay, longestDelay }: RetryOptions,
): number {
  const least = retryAfter * 1000;
  const most = Math.min(longestDelay, firstDelay * 2 ** (attempts - 1));
  return least + Math.random() * Math.max(most, least * SPREAD);
}

/** @throws the reason of the signal, as soon as it is aborted */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const cancel = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}
