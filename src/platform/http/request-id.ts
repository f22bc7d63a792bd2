import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it has the right form, so that its log and ours can be joined; else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTABLE.test(sent) ? sent : randomUUID();
}

export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  request.id = requestIdOf(request);
  request.startedAt = performance.now();
  response.setHeader('X-Request-Id', request.id);
  next();
}
