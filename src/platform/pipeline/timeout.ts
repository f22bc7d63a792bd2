import type { NextFunction, Request, Response } from 'express';
import type { AbandonedReads } from '../transactions/abandoned-reads';
import { endBackends } from '../transactions/cancellable-pool';
import { UnitOfWork } from '../transactions/unit-of-work';
import { ApiError } from '../errors/api-error';
import { sendError } from '../errors/error-response';
import { readPrecondition } from '../answers/precondition';
import { TimeLimit } from '../http/time-limit';

/** How long, in milliseconds, a request may go on whose client has gone: most end by themselves before. */
const AFTERWARDS = 500;

export interface TimeoutOptions {
  /** Milliseconds from the arrival of the headers to the answer, see {@link TimeLimit}. */
  limit: number;
  /** Where to end the database connections of a request that took too long. */
  databaseUrl: string;
  /** Reads that several requests share, which no single one can end. */
  abandonedReads: AbandonedReads;
  /** Told when they could not be ended; the database's own statement timeout ends them then. */
  onFailure: (error: unknown) => void;
}

/**
 * Answers 503 after the limit, ends the request's statements and rolls its transactions back. Without a client, too. A request
 * that may be committed by then gets a moment to tell, see {@link TimeLimit}.
 */
export function timeoutAfter({ limit, databaseUrl, abandonedReads, onFailure }: TimeoutOptions) {
  const end = (work: UnitOfWork, reason: Error) => {
    abandonedReads.watch();
    void endBackends(work.cancel(reason), databaseUrl, onFailure);
  };
  return (request: Request, response: Response, next: NextFunction): void => {
    const work = (request.work = new UnitOfWork(() => readPrecondition(request), request));
    const onEnd = () => {
      const error = new ApiError('SERVICE_UNAVAILABLE', {
        message: 'The request took too long',
        // The rest of a body that comes too slowly is not waited for either.
        headers: request.complete ? {} : { Connection: 'close' },
      });
      // In this order, and in one step: nothing that commits goes out behind the answer.
      end(work, error);
      sendError(response, error, request.id);
    };
    const onGone = () => {
      abandonedReads.watch();
      setTimeout(() => end(work, clientGone()), AFTERWARDS).unref();
    };
    request.timeLimit = new TimeLimit(limit, request, response, onEnd, onGone);
    next();
  };
}

/** What becomes of a request whose client has gone: nobody reads it. */
const clientGone = () => new ApiError('SERVICE_UNAVAILABLE', { message: 'The client has gone' });
