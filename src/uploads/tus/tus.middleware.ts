import type { NextFunction, Request, Response } from 'express';
import { TUS_VERSION } from './upload-headers';

/** The protocol requires the header in every answer, errors included. */
export function tusMiddleware(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Tus-Resumable', TUS_VERSION);
  next();
}
