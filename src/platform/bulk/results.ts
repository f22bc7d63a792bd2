import { HttpStatus } from '@nestjs/common';
import type { PartResult } from '../answers/multi-status';
import { ApiError, type FieldViolation, MAX_VIOLATIONS, validationError } from '../errors/api-error';
import { type ErrorDescription, errorDescription } from '../errors/error-form';

/** What became of one input of a lenient request. */
export interface Result extends PartResult {
  /** The resource, if it was created. */
  data?: object;
  /** The error, if it wasn't. */
  error?: ErrorDescription;
}

export const created = (data: object): Result => ({ status: HttpStatus.CREATED, data });

export const refused = (error: ApiError): Result => ({ status: error.status, error: errorDescription(ofBody(error)) });

/** What is wrong with an input as a whole has no field yet, as its position depends on the answer. */
function ofBody(error: ApiError): ApiError {
  if (!error.fields?.some(({ field }) => field === '')) return error;
  return validationError(error.fields.map((one) => ({ ...one, field: one.field || 'body' })));
}

/** One error for all inputs that have one. Its fields begin with the positions of the inputs. */
export function allOf(failures: Map<number, ApiError>): ApiError {
  const [first] = failures.values();
  // Errors of one kind can be told together. The first kind is the one that is told.
  const fields = [...failures]
    .filter(([, { code }]) => code === first.code)
    .sort(([one], [other]) => one - other)
    .flatMap(([position, error]) => fieldsAt(position, error))
    .slice(0, MAX_VIOLATIONS);
  if (first.code === 'VALIDATION_ERROR') return validationError(fields);
  const { code, message, headers, cause } = first;
  const details = fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const known = fields.every(({ rule }) => rule !== '');
  return new ApiError(code, { message, details, headers, cause, ...(known && { fields }) });
}

/** An error without fields gets one for its input as a whole, without a rule. */
function fieldsAt(position: number, { fields, details }: ApiError): FieldViolation[] {
  if (!fields) return [{ field: String(position), rule: '', message: details }];
  return fields.map((one) => ({ ...one, field: [position, one.field].filter((part) => part !== '').join('.') }));
}
