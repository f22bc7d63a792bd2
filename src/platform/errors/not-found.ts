import { ApiError } from './api-error';
import type { ErrorCode } from './error-codes';

/** The codes of nouns that have their own. */
const codes = new Map<string, ErrorCode>();

/** Gives the 404 of an entity a code of its own, from {@link declareErrors}. Default: NOT_FOUND */
export const NotFoundCode =
  (code: ErrorCode): ClassDecorator =>
  ({ name }) =>
    void codes.set(nounOf(name), code);

/** 404 for a resource. @param noun e.g. `credit note` */
export function notFound(noun: string, cause?: Error): ApiError {
  const code = codes.get(noun);
  if (code) return new ApiError(code, { cause });
  return new ApiError('NOT_FOUND', { message: `${noun[0].toUpperCase()}${noun.slice(1)} not found`, cause });
}

/** The noun of an entity class: `CreditNote` is a `credit note`. */
export function nounOf(className: string): string {
  return (
    className[0].toLowerCase() +
    className.slice(1).replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  );
}
