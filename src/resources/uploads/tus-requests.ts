import type { NextFunction, Request, Response } from 'express';
import { TUS_VERSION } from './upload-headers';

/** Before any guard, as the protocol has it in each answer, be it an error. */
export function tellVersion(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Tus-Resumable', TUS_VERSION);
  next();
}
