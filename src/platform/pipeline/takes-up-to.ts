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

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const TIME_LIMIT = 'resource-api:time-limit';

export const seconds = (count: number): number => count * SECOND;
export const minutes = (count: number): number => count * MINUTE;

/** Has what a read does in the database belong to its request, as that of other methods does. */
@Injectable()
class InUnitOfWork implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { work } = context.switchToHttp().getRequest<Request>();
    if (!work || UnitOfWork.current()) return next.handle();
    return from(work.run(() => lastValueFrom(next.handle(), { defaultValue: undefined })));
  }
}

/**
 * Gives a route, such as an export, a time limit of its own instead of REQUEST_TIMEOUT: for the request, and for each of
 * its statements. @param limit milliseconds
 */
export const TakesUpTo = (limit: number): MethodDecorator =>
  applyDecorators(SetMetadata(TIME_LIMIT, limit), UseInterceptors(InUnitOfWork));

/** From here on the request, which has come to its route, takes as long as that may. */
export function allow(request: Request, limit: number): void {
  request.timeLimit?.allow(limit);
  if (request.work) request.work.statementLimit = limit;
}
