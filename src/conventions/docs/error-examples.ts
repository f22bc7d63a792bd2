import { ApiError, validationError } from '../errors/api-error';
import { type ErrorCode, ERRORS } from '../errors/error-codes';
import { errorBody } from '../errors/error-response';

const MOMENT = '2026-01-31T12:00:00.000Z';
const REQUEST_ID = '0b7c7d3e-5f7a-4a46-9d2b-6a8e2f3c1d90';

const particular: Partial<Record<ErrorCode, ApiError>> = {
  VALIDATION_ERROR: validationError([
    { field: 'username', rule: 'length', message: 'must be 3 to 20 characters' },
    { field: 'email', rule: 'email', message: 'must be a valid e-mail address' },
  ]),
  CONFLICT: new ApiError('CONFLICT', { details: 'username: is already taken' }),
};

/** An example of each error, made by the very function that writes the real ones. */
export const errorExamples = Object.fromEntries(
  (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const body = JSON.parse(errorBody(particular[code] ?? new ApiError(code), REQUEST_ID)) as { error: object };
    return [code, { error: { ...body.error, timestamp: MOMENT } }];
  }),
) as Record<ErrorCode, object>;
