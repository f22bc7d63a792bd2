import type { PoolClient } from 'pg';
import type { NextFunction, Request, Response } from 'express';
import type { AbandonedReads } from '../transactions/abandoned-reads';
import { endBackends } from '../transactions/end-backends';
import { timeOuts } from '../signals/operations';
import { UnitOfWork } from '../transactions/unit-of-work';
import { ApiError } from '../errors/api-error';
import { sendError } from '../errors/error-response';
import { readPrecondition } from '../answers/precondition';
import { TimeLimit } from '../http/time-limit';

/** How long a request whose client has gone may continue, in milliseconds. Most end by themselves before. */
const AFTERWARDS = 500;

export interface TimeoutOptions {
  /** Milliseconds from the arrival of the headers to the answer, see {@link TimeLimit}. */
  limit: number;
  /** The database in which the backends of overdue requests are terminated. */
  databaseUrl: string;
  /** Reads that several requests share, so that none of these requests alone may end them. */
  abandonedReads: AbandonedReads;
  /** Called when the backends couldn't be terminated. The database's own statement timeout ends them then. */
  onFailure: (error: unknown) => void;
}

/**
 * Answers 503 after the limit, ends the request's statements, and rolls its transactions back, even if the client has
 * gone. A request whose commit may have been sent gets a moment to learn the outcome, see {@link TimeLimit}.
 */
export function timeoutAfter({ limit, databaseUrl, abandonedReads, onFailure }: TimeoutOptions) {
  const end = (work: UnitOfWork, reason: Error, shared: Iterable<PoolClient> = []) => {
    abandonedReads.watch();
    void endBackends([...work.cancel(reason), ...shared], databaseUrl, onFailure);
  };
  const onLeft = () => abandonedReads.watch();
  return (request: Request, response: Response, next: NextFunction): void => {
    const work = (request.work = new UnitOfWork(() => readPrecondition(request), request));
    const onEnd = () => {
      const error = new ApiError('SERVICE_UNAVAILABLE', {
        message: 'The request took too long',
        // The rest of a slow body isn't waited for.
        headers: request.complete ? {} : { Connection: 'close' },
      });
      timeOuts.add({ what: 'request' });
      // In this order and without waiting, so that nothing is committed after the answer. A write that others share has run for
      // longer than its outcome is waited for: they would fare no better.
      end(work, error, work.shared);
      sendError(response, error, request.id);
    };
    const onGone = () => {
      abandonedReads.watch();
      setTimeout(() => end(work, clientGone()), AFTERWARDS).unref();
    };
    request.timeLimit = new TimeLimit(limit, request, response, onEnd, onGone, onLeft);
    next();
  };
}

/** The reason why the work of a request ends when its client has gone. Nobody reads it. */
const clientGone = () => new ApiError('SERVICE_UNAVAILABLE', { message: 'The client has gone' });
