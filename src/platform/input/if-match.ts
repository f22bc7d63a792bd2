import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../auth/request-of';
import type { Precondition } from '../transactions/precondition';

/**
 * What the request demands of the row that it is about to change, by `If-Match` or `If-None-Match`; undefined when it demands
 * nothing. For `updateRow()`, `deleteRow()`, `touchRow()` or `requireExpected()`, which compare the row with it.
 */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): Precondition | undefined => {
  return requestOf(context)?.work?.precondition;
});
