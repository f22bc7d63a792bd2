import type { NextFunction, Request, Response } from 'express';
import { TUS_VERSION } from './upload-headers';

/** The path of one upload, relative to that of all. */
const ONE = /^\/[^/]+\/?$/;
const OVERRIDES = ['PATCH', 'DELETE'];

/** Applies the protocol's rules for all requests to uploads, before routing. */
export function tusMiddleware(request: Request, response: Response, next: NextFunction): void {
  // The header is required in every answer, errors included.
  response.setHeader('Tus-Resumable', TUS_VERSION);
  request.method = methodOf(request);
  next();
}

/** Some environments only let clients send GET and POST. */
function methodOf({ method, path, headers }: Request): string {
  const other = String(headers['x-http-method-override']);
  return method === 'POST' && ONE.test(path) && OVERRIDES.includes(other) ? other : method;
}
