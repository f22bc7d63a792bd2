import type { ErrorCode } from '../errors/error-codes';
import { errorBody } from '../errors/error-form';
import { toApiError } from '../errors/to-api-error';

const MOMENT = '2026-01-31T12:00:00.000Z';
const REQUEST_ID = '0b7c7d3e-5f7a-4a46-9d2b-6a8e2f3c1d90';

export interface ErrorExample {
  code: ErrorCode;
  status: number;
  /** What happened, for people. */
  message: string;
  /** The headers that this error adds to the response. */
  headers: Record<string, string>;
  body: { error: { details: string } };
}

/** The answer to a thrown error, made by the functions that answer real ones. */
export function errorExample(thrown: Error): ErrorExample {
  const error = toApiError(thrown);
  const { code, status, message, headers } = error;
  const body = JSON.parse(errorBody(error, REQUEST_ID)) as ErrorExample['body'];
  return {
    code,
    status,
    message,
    headers,
    body: { error: { ...body.error, timestamp: MOMENT } as { details: string } },
  };
}
