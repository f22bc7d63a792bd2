import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { ThrottlerException } from '@nestjs/throttler';
import type { Response } from 'express';

export const TOO_MANY = 'Too many requests. Please try again later.';

/** Answers 429 of /public in plain text, as the specification demands. */
@Catch(ThrottlerException)
export class PlainTextThrottleFilter implements ExceptionFilter<ThrottlerException> {
  catch(_thrown: ThrottlerException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) return;
    response.set('Cache-Control', 'no-store').type('text/plain').status(429);
    response.send(TOO_MANY);
  }
}
