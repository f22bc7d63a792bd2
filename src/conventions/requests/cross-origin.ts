import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../../config/settings';
import { API_PATH } from './version';

const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Idempotent-Replayed',
  'Tus-Resumable',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Tus-Version',
  'Tus-Max-Size',
  'Tus-Extension',
  'Tus-Checksum-Algorithm',
];

/** CORS of the API, for the origins that are listed; another one gets no header of it at all. */
export function crossOrigin({ CORS_ORIGINS, CORS_METHODS }: Settings) {
  const options = { origin: CORS_ORIGINS, methods: CORS_METHODS, credentials: true, exposedHeaders: EXPOSED };
  const allow = cors(options);
  // An OPTIONS that isn't a preflight asks what any caller may ask: it goes on to its `Allow`.
  const allowOptions = cors({ ...options, preflightContinue: true });
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!API_PATH.test(request.path)) return next();
    // Caches must keep answers to different origins apart, refusals too.
    response.vary('Origin');
    if (!CORS_ORIGINS.includes(request.headers.origin ?? '')) return next();
    const preflight = request.headers['access-control-request-method'] !== undefined;
    (request.method === 'OPTIONS' && !preflight ? allowOptions : allow)(request, response, next);
  };
}
