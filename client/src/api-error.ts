import type { DocumentedCode } from './generated/error-codes.js';

/** Codes that no answer of the service has: they say why there is no answer that the client can use. */
export type ClientCode = 'NO_ANSWER' | 'TIMEOUT' | 'UNEXPECTED_ANSWER' | 'NOT_MODIFIED' | 'UNKNOWN';
export type ErrorCode = DocumentedCode | ClientCode;

/** A broken rule, at the field that breaks it. */
export interface Violation {
  /** E.g. `items.0.quantity`. */
  field: string;
  rule: string;
  message: string;
  /** For the rule `stock`: how many there are. */
  available?: number;
}

export interface ApiErrorFacts {
  /** 0 if there was no answer. */
  status: number;
  code: ErrorCode;
  message: string;
  details?: string;
  fields?: Violation[];
  requestId?: string;
  /** Seconds to wait before another attempt. */
  retryAfter?: number;
  cause?: unknown;
}

/** Characters of an answer that is no envelope, such as a proxy's page. */
const EXCERPT = 500;

/** The only error of calls. Cancelled calls throw the reason of their signal instead, as `fetch` does. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: string;
  readonly fields: Violation[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  /** How often the request was sent. */
  attempts = 1;
  /** Whether an answer was lost, so that the request may have been carried out although it failed. */
  uncertain = false;

  constructor(facts: ApiErrorFacts) {
    super(facts.details ? `${facts.message}: ${facts.details}` : facts.message, { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details ?? '';
    this.fields = facts.fields ?? [];
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
  }

  /** Narrows the code: `if (error.is('CONFLICT', 'GONE'))`. */
  is<Code extends ErrorCode>(...codes: Code[]): this is ApiError & { readonly code: Code } {
    return (codes as ErrorCode[]).includes(this.code);
  }
}

export const isApiError = (error: unknown): error is ApiError => error instanceof ApiError;

/** The error of an answer, whether the service or something before it has written the answer. */
export function errorOf({ status, statusText, headers }: Response, text: string): ApiError {
  const requestId = headers.get('X-Request-Id') ?? undefined;
  const retryAfter = secondsOf(headers.get('Retry-After'));
  const envelope = parsed(text) as { error?: Envelope } | undefined;
  const { code, message, details, fields } = envelope?.error ?? {};
  if (code !== undefined && message !== undefined) {
    return new ApiError({ status, code, message, details, fields, requestId, retryAfter });
  }
  const excerpt = text.slice(0, EXCERPT).trim();
  const reason = `${status} ${statusText}`.trim();
  return new ApiError({
    status,
    code: CODES[status] ?? 'UNKNOWN',
    message: reason,
    details: excerpt,
    requestId,
    retryAfter,
  });
}

interface Envelope {
  code?: ErrorCode;
  message?: string;
  details?: string;
  fields?: Violation[];
}

/** For answers without a code: those of proxies, and the 429 of `/public`. */
const CODES: Record<number, ErrorCode> = {
  304: 'NOT_MODIFIED',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_ERROR',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
};

/** @returns undefined if the text isn't a JSON object */
export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
