import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error';

/** Asked by the platform itself, from inside, before there is a certificate for the name it uses. */
const FOR_THE_PLATFORM = /^\/health\//;

/** Refuses what came over plain HTTP: by the connection, or by what the trusted proxy says of it. */
export function requireHttps(request: Request, _response: Response, next: NextFunction): void {
  if (request.secure || FOR_THE_PLATFORM.test(request.path)) return next();
  next(new ApiError('FORBIDDEN', { message: 'This service is for HTTPS only' }));
}
