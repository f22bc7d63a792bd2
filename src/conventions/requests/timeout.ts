import type { NextFunction, Request, Response } from 'express';
import { cancelWork } from '../../database/cancellable-pool';
import { UnitOfWork } from '../../database/unit-of-work';
import { ApiError } from '../errors/api-error';
import { sendError } from '../errors/error-response';
import './request-context';
import { expectationOf } from './precondition';
import { TimeLimit } from './time-limit';

export interface TimeoutOptions {
  /** Milliseconds from the arrival of the headers to the answer, see {@link TimeLimit}. */
  limit: number;
  /** Where to end the database connections of a request that took too long. */
  databaseUrl: string;
  /** Told when they could not be ended; the database's own statement timeout ends them then. */
  onFailure: (error: unknown) => void;
}

/** Answers 503 after the limit, ends the request's statements and rolls its transactions back. */
export function timeoutAfter({ limit, databaseUrl, onFailure }: TimeoutOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const work = (request.work = new UnitOfWork(() => expectationOf(request), request));
    request.timeLimit = new TimeLimit(limit, request, response, () => {
      const error = new ApiError('SERVICE_UNAVAILABLE', {
        message: 'The request took too long',
        // The rest of a body that comes too slowly is not waited for either.
        headers: request.complete ? {} : { Connection: 'close' },
      });
      sendError(response, error, request.id);
      void cancelWork(work, error, databaseUrl, onFailure);
    });
    next();
  };
}
