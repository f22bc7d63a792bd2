import type { NextFunction, Request, Response } from 'express';
import { isRead } from '../http/is-read';
import type { ChangeNotices } from './change-notices';

/** Tells those who wait for changes to look, when a request has committed something and was answered. */
export function tellOfWrites(notices: ChangeNotices) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!isRead(request)) response.once('finish', () => request.work?.mayBeCommitted && notices.tell());
    next();
  };
}
