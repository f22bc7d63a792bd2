import type { NextFunction, Request, Response } from 'express';
import { validationError } from '../errors/api-error';

const HEADER = 'X-HTTP-Method-Override';
const NAME = HEADER.toLowerCase();
const METHODS = ['PUT', 'PATCH', 'DELETE'];

/**
 * Makes a POST with `X-HTTP-Method-Override` the request of the named method, before it is routed (D-163). The header of
 * other methods means nothing.
 */
export function overrideMethod(request: Request, _response: Response, next: NextFunction): void {
  const method = request.headers[NAME];
  if (method === undefined || request.method !== 'POST') return next();
  if (!METHODS.includes(method as string)) return next(unknownMethod());
  request.methodAsSent = request.method;
  request.method = method as string;
  next();
}

const unknownMethod = () =>
  validationError([{ field: HEADER, rule: 'enum', message: `must be one of ${METHODS.join(', ')}` }]);
