import {
  DefaultValuePipe,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFilePipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  ValidationPipe,
} from '@nestjs/common';
import { PIPES_METADATA } from '@nestjs/common/constants';
import { InputsPipe } from '../bulk/inputs';
import { type Controller, parametersOf } from '../http/route-parameters';
import { IdPipe } from '../input/id.pipe';
import { KeyPipe } from '../input/key.pipe';

type PipeClass = abstract new (...args: never[]) => object;

/** Pipes that read no schema. A pipe of a team's own may. */
const READ_NONE: PipeClass[] = [
  ...[ValidationPipe, DefaultValuePipe, ParseArrayPipe, ParseBoolPipe, ParseDatePipe, ParseEnumPipe, ParseFilePipe],
  ...[ParseFloatPipe, ParseIntPipe, ParseUUIDPipe, IdPipe, KeyPipe, InputsPipe],
];

/**
 * True if a parameter names a Standard Schema, `@Body({ schema })`, and no pipe compares the value with it.
 * @param ofAll the pipes of all routes: classes or instances
 */
export function hasUnreadSchema(handler: object, controller: Controller, ofAll: readonly unknown[]): boolean {
  const ofRoute = [handler, controller].flatMap(
    (target) => (Reflect.getMetadata(PIPES_METADATA, target) ?? []) as unknown[],
  );
  return parametersOf(handler, controller).some(
    ({ schema, pipes }) => schema !== undefined && ![...ofAll, ...ofRoute, ...pipes].some(mayRead),
  );
}

function mayRead(pipe: unknown): boolean {
  const isA = (type: PipeClass) =>
    pipe instanceof type || (typeof pipe === 'function' && (pipe === type || pipe.prototype instanceof type));
  return !READ_NONE.some(isA);
}
