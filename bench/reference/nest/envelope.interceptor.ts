import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Page } from './page';

@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { statusCode } = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((data) => envelope(statusCode, data)));
  }
}

function envelope(code: number, data: unknown): unknown {
  if (typeof data === 'string') return data;
  const body = data instanceof Page ? { data: data.data, pagination: data.pagination } : { data };
  return { code, message: code === 201 ? 'Created' : 'OK', ...body, timestamp: Date.now() };
}
