import type { NextFunction, Request, Response } from 'express';
import { ApiError, validationError } from '../errors/api-error';

/** What Node's server would refuse by itself, with an empty body, if it were not told to leave it to us. */
export function requireWellFormed({ headers, httpVersion }: Request, _response: Response, next: NextFunction): void {
  // HTTP/1.0 knows neither.
  if (httpVersion === '1.0') return next();
  if (headers.host === undefined) {
    return next(validationError([{ field: 'Host', rule: 'required', message: 'is required' }]));
  }
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    return next(new ApiError('EXPECTATION_FAILED'));
  }
  next();
}
