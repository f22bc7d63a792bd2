import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { UnitOfWork } from '../transactions/unit-of-work';

export const TIME_LIMIT = 'resource-api:time-limit';

/** Runs a read within its request's unit of work, as other methods do. */
@Injectable()
class InUnitOfWork implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    // The first argument of another transport is a message, a client or nothing.
    const work = context.getType() === 'http' ? context.switchToHttp().getRequest<Request>().work : undefined;
    if (!work || UnitOfWork.current()) return next.handle();
    return from(work.run(() => lastValueFrom(next.handle(), { defaultValue: undefined })));
  }
}

/**
 * Gives a route a time limit of its own instead of REQUEST_TIMEOUT, e.g. an export. It applies to the request and to
 * each of its statements.
 * @param limit milliseconds
 */
export const TakesUpTo = (limit: number): MethodDecorator =>
  applyDecorators(SetMetadata(TIME_LIMIT, limit), UseInterceptors(InUnitOfWork));

/** Applies the limit of the route to the request. */
export function allow(request: Request, limit: number): void {
  request.timeLimit?.allow(limit);
  if (request.work) request.work.statementLimit = limit;
}
