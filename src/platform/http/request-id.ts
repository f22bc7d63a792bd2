import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id if it has the right form, so that the logs of both sides can be joined. Otherwise a new id. */
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
