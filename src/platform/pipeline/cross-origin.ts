import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../config/settings';
import { exposedHeaders } from '../http/exposed-headers';
import { API_PATH } from '../routing/version';

/** Seconds for which a browser may keep the answer to a preflight: the most that Chromium does. */
const PREFLIGHT_SECONDS = 7_200;

/** CORS of the API for the listed origins. Other origins get no CORS header. */
export function crossOrigin({ CORS_ORIGINS, CORS_METHODS }: Settings) {
  const options = {
    origin: CORS_ORIGINS,
    methods: CORS_METHODS,
    credentials: true,
    exposedHeaders: exposedHeaders(),
    maxAge: PREFLIGHT_SECONDS,
  };
  const allow = cors(options);
  // An OPTIONS request that isn't a preflight goes on to its `Allow`.
  const allowOptions = cors({ ...options, preflightContinue: true });
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!API_PATH.test(request.path)) return next();
    // Caches must keep the answers to different origins apart, errors included.
    response.vary('Origin');
    if (!CORS_ORIGINS.includes(request.headers.origin ?? '')) return next();
    const preflight = request.headers['access-control-request-method'] !== undefined;
    (request.method === 'OPTIONS' && !preflight ? allowOptions : allow)(request, response, next);
  };
}
