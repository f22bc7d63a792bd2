import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error';

/** The orchestrator probes these paths from inside, by an address that the certificate doesn't cover. */
const FOR_THE_PLATFORM = /^\/health\//;

/** Refuses requests over plain HTTP, judged by the connection or by the trusted proxy's header. */
export function requireHttps(request: Request, _response: Response, next: NextFunction): void {
  if (request.secure || FOR_THE_PLATFORM.test(request.path)) return next();
  next(new ApiError('FORBIDDEN', { message: 'This service is for HTTPS only' }));
}
