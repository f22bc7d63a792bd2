import { ApiError, errorOf, parsed } from './api-error.js';

/** A request as one attempt sends it. */
export interface Attempt {
  url: string;
  method: string;
  headers: Headers;
  body?: BodyInit;
  /** What becomes of the body of a success. Default: JSON is parsed, and the rest is text. */
  as?: 'blob' | 'stream';
}

/** The answer to a request, with what its body says. */
export interface Reply {
  response: Response;
  body: unknown;
}

type Fetch = typeof globalThis.fetch;

/**
 * Sends a request once, and reads its answer.
 * @param limit milliseconds until the answer is read
 * @throws {ApiError} also when the connection breaks, or the limit is over
 */
export async function attempt(fetch: Fetch, request: Attempt, limit: number, signal?: AbortSignal): Promise<Reply> {
  signal?.throwIfAborted();
  const both = new AbortController();
  const cancel = () => both.abort(signal?.reason);
  const timer = setTimeout(() => both.abort(new DOMException('No answer in time', 'TimeoutError')), limit);
  signal?.addEventListener('abort', cancel);
  try {
    const { url, as, ...init } = request;
    // A redirect would make a GET of a POST, and take the tokens to wherever it leads.
    return await read(await fetch(url, { ...init, signal: both.signal, redirect: 'manual' }), as);
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ApiError ? error : noAnswer(error, both.signal.aborted);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

async function read(response: Response, as: Attempt['as']): Promise<Reply> {
  if (isRedirect(response)) throw moved(response);
  if (!response.ok) throw errorOf(response, await response.text());
  if (as === 'stream') return { response, body: response.body };
  if (as === 'blob') return { response, body: await response.blob() };
  return { response, body: contentOf(response, await response.text()) };
}

function contentOf(response: Response, text: string): unknown {
  if (text === '') return undefined;
  if (/^text\/plain\b/.test(response.headers.get('Content-Type') ?? '')) return text;
  const content = parsed(text);
  // E.g. the page of a network where people have to sign in first.
  if (!content) throw unexpected(response);
  return content;
}

/** Browsers hide the status of a redirect. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);

const moved = ({ status, headers }: Response): ApiError =>
  new ApiError({
    status,
    code: 'UNEXPECTED_ANSWER',
    message: 'The answer leads elsewhere, and the client needs the URL of the service itself',
    details: headers.get('Location') ?? undefined,
  });

const unexpected = ({ status }: Response): ApiError =>
  new ApiError({ status, code: 'UNEXPECTED_ANSWER', message: 'The answer is neither JSON nor text' });

function noAnswer(cause: unknown, isLate: boolean): ApiError {
  if (isLate) return new ApiError({ status: 0, code: 'TIMEOUT', message: 'There was no answer in time', cause });
  return new ApiError({ status: 0, code: 'NO_ANSWER', message: 'The connection broke before the answer', cause });
}
