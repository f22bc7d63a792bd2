import type { NextFunction, Request, Response } from 'express';
import { TUS_VERSION } from './upload-headers';

/** Of one upload, below the path of all. */
const ONE = /^\/[^/]+\/?$/;
const OVERRIDES = ['PATCH', 'DELETE'];

/** What the protocol has for all requests to uploads, before their route is looked for. */
export function speakTus(request: Request, response: Response, next: NextFunction): void {
  // In each answer, be it an error.
  response.setHeader('Tus-Resumable', TUS_VERSION);
  request.method = methodOf(request);
  next();
}

/** Some environments let their clients send nothing but GET and POST. */
function methodOf({ method, path, headers }: Request): string {
  const other = String(headers['x-http-method-override']);
  return method === 'POST' && ONE.test(path) && OVERRIDES.includes(other) ? other : method;
}
