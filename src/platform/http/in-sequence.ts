import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Combines several middlewares: Express's router needs more time to find the next one than most of them need to run.
 */
export function inSequence(middlewares: RequestHandler[]): RequestHandler {
  return (request, response, next) => run(middlewares, 0, request, response, next);
}

function run(all: RequestHandler[], index: number, request: Request, response: Response, next: NextFunction): void {
  if (index === all.length) return next();
  void all[index](request, response, (error?: unknown) => {
    if (error) next(error);
    else run(all, index + 1, request, response, next);
  });
}
