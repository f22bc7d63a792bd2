import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { ApiError, type FieldViolation, MAX_VIOLATIONS, validationError } from './api-error';
import { codeOfStatus, isErrorStatus } from './error-codes';
import { fromHealthCheck } from './failed-checks';
import { refusalOf } from './refused-parameters';

/** The properties that Nest itself sets on an exception's response object. */
const OF_NEST = ['statusCode', 'message', 'error', 'errorCode'];
/** The field of a violation that concerns the request as a whole. */
const WHOLE = 'request';
/** Limits of a list and of each of its texts, which any code may have made. */
const MAX_TEXTS = 20;
const MAX_LENGTH = 1_000;
/** The length of a violation's message. */
export const MAX_SENTENCE = 500;
const PRINTABLE = /^[\x21-\x7e]{1,64}$/;

/** What the developer wrote for the caller. */
interface Said {
  /** One message, or several. */
  texts: string[];
  /** The kind of the error, in a word or two. */
  label?: string;
  /** All other properties, as JSON. */
  more?: string;
}

/**
 * The answer to a Nest exception, with its status. The text, list or object of a client error is sent to the caller.
 * That of a server error is only logged.
 */
export function fromHttpException(thrown: HttpException): ApiError | undefined {
  const status = thrown.getStatus();
  if (!isErrorStatus(status)) return undefined;
  const error = status < 500 ? fromClientError(thrown, status) : fromServerError(thrown, status);
  return hasCode(thrown) ? Object.assign(error, { code: thrown.errorCode }) : error;
}

/** 400 for a field, or for the whole request if the thrower doesn't name a field. */
export function invalid(messages: string[], field = WHOLE): ApiError {
  return validationError(violationsOf(messages, field));
}

function violationsOf(messages: string[], field: string): FieldViolation[] {
  return messages.map((message) => ({ field, rule: 'invalid', message: sentence(message) }));
}

/** One line, as long as the document says. */
export const sentence = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_SENTENCE);

/** True if Nest made this response object, not a developer. */
export function isOfNest(body: object, status: number): body is { statusCode: number } {
  return (
    Object.keys(body).every((key) => OF_NEST.includes(key)) && (body as { statusCode?: unknown }).statusCode === status
  );
}

function fromServerError(thrown: HttpException, status: number): ApiError {
  return fromHealthCheck(thrown.getResponse(), thrown) ?? new ApiError(codeOfStatus(status), { cause: thrown });
}

function fromClientError(thrown: HttpException, status: number): ApiError {
  const code = codeOfStatus(status);
  const { texts, label, more } = saidBy(thrown.getResponse(), status);
  const said = [...texts, ...(more ? [more] : [])];
  const refusal = code === 'VALIDATION_ERROR' && !hasCode(thrown) ? refusalOf(thrown) : undefined;
  if (refusal?.violations) return validationError(refusal.violations);
  if (refusal) return invalid(said.length > 0 ? said : [label ?? 'is not acceptable'], refusal.field);
  // The default message of VALIDATION_ERROR announces a list of violated rules.
  const fallback = code === 'VALIDATION_ERROR' ? STATUS_CODES[status] : undefined;
  const message = (texts.length === 1 ? texts[0] : label) || fallback;
  const details = said.join('; ') || message;
  // Whoever shows errors at their fields finds the developer's own 400 there too.
  const isOfRequest = code === 'VALIDATION_ERROR' && !hasCode(thrown);
  const fields = isOfRequest
    ? violationsOf(said.length > 0 ? said : [message!], WHOLE).slice(0, MAX_VIOLATIONS)
    : undefined;
  return new ApiError(code, { message, details, fields, cause: thrown });
}

function saidBy(response: string | object, status: number): Said {
  if (typeof response !== 'object' || response instanceof Error) {
    return { texts: typeof response === 'string' ? textsIn(response) : [] };
  }
  const { message, error, ...others } = response as { message?: unknown; error?: unknown };
  const rest = Object.entries(others).filter(([name, value]) => !(OF_NEST.includes(name) || value === status));
  return {
    texts: textsIn(message),
    label: textsIn(error)[0],
    more: rest.length > 0 ? jsonOf(Object.fromEntries(rest)) : undefined,
  };
}

function textsIn(message: unknown): string[] {
  const texts = [message].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
  return texts
    .slice(0, MAX_TEXTS)
    .map((text) => String(text).slice(0, MAX_LENGTH))
    .filter(Boolean);
}

/** Undefined if the value has no JSON, e.g. because of a circular reference. */
function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value).slice(0, MAX_LENGTH);
  } catch {
    return undefined;
  }
}

/** Nest's own option for a code: `new ConflictException('...', { errorCode: 'NOTE_LOCKED' })`. */
function hasCode({ errorCode }: HttpException): boolean {
  return errorCode !== undefined && PRINTABLE.test(errorCode);
}
