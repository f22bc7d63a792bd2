import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../../config/settings';

const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Idempotent-Replayed',
];

/** CORS for the origins that are listed; another one gets no header of it at all. */
export function crossOrigin({ CORS_ORIGINS, CORS_METHODS }: Settings) {
  const allow = cors({ origin: CORS_ORIGINS, methods: CORS_METHODS, credentials: true, exposedHeaders: EXPOSED });
  return (request: Request, response: Response, next: NextFunction): void => {
    // Caches must keep answers to different origins apart, refusals too.
    if (CORS_ORIGINS.length > 0) response.vary('Origin');
    if (CORS_ORIGINS.includes(request.headers.origin ?? '')) allow(request, response, next);
    else next();
  };
}
