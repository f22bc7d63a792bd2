import { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch';
import { ApiError, isApiError } from './api-error.js';
import { attempt, type Attempt, type Reply } from './attempt.js';
import type { CallOptions } from './paths.js';
import { repeat, type Repeatability, type RetryOptions, withoutEffect } from './repetition.js';
import type { Session } from './session.js';

type HeaderValues = Record<string, string | number | undefined>;

/** The parts of a call whose types the operation gives. */
export interface UntypedInit extends CallOptions {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown>; header?: HeaderValues };
  body?: unknown;
}

export interface UntypedAnswer {
  status: number;
  data: unknown;
  pagination?: { next?: string | null; page?: number; totalPages?: number };
  headers: Headers;
  etag: string | undefined;
  requestId: string | undefined;
  replayed: boolean;
}

export interface CallerOptions {
  /** The URL of the version, without a slash at its end. */
  base: string;
  /** The paths whose POST takes an Idempotency-Key. */
  keyed: readonly string[];
  fetch: typeof globalThis.fetch;
  retry: RetryOptions;
  /** Milliseconds that an attempt may take. */
  timeout: number;
  headers: Record<string, string>;
  /** Whether a PATCH is sent as a POST that says so, as browsers need where CORS doesn't allow PATCH. */
  patchByPost: boolean;
}

const KEY = 'Idempotency-Key';
/** What an envelope says beside its content. */
const FRAME = ['code', 'message', 'timestamp'];
/** `a=1,2` for lists and `a[gt]=1` for bounds, as the documents say. */
const serialized = createQuerySerializer<Record<string, unknown>>({
  array: { style: 'form', explode: false },
  object: { style: 'deepObject', explode: true },
});

/** Segments that every URL loses, and so leads to another path. */
const LOST_SEGMENTS: unknown[] = ['', '.', '..'];

/** @throws {TypeError} for a parameter that is missing, or would lead to another path than the documented one */
function serializedPath(path: string, parameters: Record<string, unknown> = {}): string {
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
    const value = parameters[name!] ?? '';
    if (LOST_SEGMENTS.includes(value)) throw new TypeError(`${path}: ${name} must not be ${JSON.stringify(value)}`);
  }
  return defaultPathSerializer(path, parameters);
}

/** Sends calls of the documented paths: with a key, a token, and as many attempts as are safe. */
export class Caller {
  constructor(private readonly options: CallerOptions) {}

  /** @param session none for calls that need no access token */
  async call(method: string, path: string, init: UntypedInit = {}, session?: Session): Promise<UntypedAnswer> {
    const { signal, timeout = this.options.timeout } = init;
    const request = this.requestOf(method, path, init);
    const asked = repeatabilityOf(method, request, init);
    const once = (token?: string) => attempt(this.options.fetch, authorized(request, token), timeout, signal);
    const send = session ? () => withToken(session, once, signal) : () => once();
    return answerOf(await repeat(send, asked, this.options.retry, signal));
  }

  /** For the calls of a session, which has limits of its own. */
  async credentials(method: string, body: object, retry: RetryOptions, signal?: AbortSignal): Promise<unknown> {
    const request = this.requestOf(method, '/auth/tokens', { body });
    const send = () => attempt(this.options.fetch, request, this.options.timeout, signal);
    return answerOf(await repeat(send, { isSafe: true, hasKey: false }, retry, signal)).data;
  }

  private requestOf(method: string, path: string, { params = {}, body, headers, as }: UntypedInit): Attempt {
    const { base, keyed, patchByPost } = this.options;
    const url = createFinalURL(path, {
      baseUrl: base,
      params,
      querySerializer: serialized,
      pathSerializer: serializedPath,
    });
    const all = headersOf(this.options.headers, params.header, headers);
    if (method === 'POST' && keyed.includes(path) && !all.has(KEY)) all.set(KEY, randomKey());
    if (body !== undefined && !all.has('Content-Type')) all.set('Content-Type', 'application/json');
    const text = body === undefined || isBytes(body) ? body : JSON.stringify(body);
    if (method !== 'PATCH' || !patchByPost) return { url, method, headers: all, body: text, as };
    all.set('X-HTTP-Method-Override', method);
    return { url, method: 'POST', headers: all, body: text, as };
  }
}

function headersOf(...sources: (HeaderValues | undefined)[]): Headers {
  const headers = new Headers({ Accept: 'application/json, */*;q=0.1' });
  for (const source of sources) {
    for (const [name, value] of Object.entries(source ?? {})) if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}

const isBytes = (body: unknown): body is BodyInit =>
  typeof body === 'string' || body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);

/** 128 random bits. `crypto.randomUUID` is missing on pages that came by plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Which requests a lost answer may be asked for again. GET and DELETE always: what is deleted twice is gone once, as no id
 * is given twice. POST with a key. PUT and PATCH with If-Match, without which a second execution could undo what somebody
 * else has written after the first one.
 */
function repeatabilityOf(method: string, { headers }: Attempt, { repeat: wish }: UntypedInit): Repeatability {
  const hasKey = headers.has(KEY);
  const isSafe = ['GET', 'HEAD', 'DELETE'].includes(method) || (method === 'POST' ? hasKey : headers.has('If-Match'));
  return { hasKey, isSafe: wish ?? isSafe };
}

function authorized(request: Attempt, token?: string): Attempt {
  const headers = new Headers(request.headers);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  return { ...request, headers };
}

/** A 401 leads to one exchange of tokens, and one more attempt. The 401 after that is an error. */
async function withToken(
  session: Session,
  send: (token?: string) => Promise<Reply>,
  signal?: AbortSignal,
): Promise<Reply> {
  const token = await unlessAborted(session.accessToken(), signal).catch(notExchanged);
  try {
    return await send(token);
  } catch (error) {
    if (token === undefined || !(error instanceof ApiError) || error.status !== 401) throw error;
    const next = await unlessAborted(session.renewed(token), signal).catch(notExchanged);
    if (next === undefined || next === token) throw error;
    return send(next);
  }
}

/** Each request that waited gets an error of its own. The request was not sent, or was refused by 401. */
function notExchanged(error: unknown): never {
  if (!isApiError(error)) throw error;
  throw withoutEffect(new ApiError({ ...error, message: 'The tokens could not be exchanged', cause: error }));
}

/** Others may wait for the same promise: it goes on when one of them leaves. */
function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const cancel = () => reject(signal.reason as Error);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}

function answerOf({ response: { status, headers }, body }: Reply): UntypedAnswer {
  const facts = {
    status,
    headers,
    etag: headers.get('ETag') ?? undefined,
    requestId: headers.get('X-Request-Id') ?? undefined,
    replayed: headers.get('Idempotent-Replayed') === 'true',
  };
  const isEnvelope = typeof body === 'object' && body !== null && 'data' in body && 'timestamp' in body;
  if (!isEnvelope) return { ...facts, data: body };
  const content = Object.entries(body).filter(([name]) => !FRAME.includes(name));
  return { ...facts, data: body.data, ...Object.fromEntries(content) };
}
