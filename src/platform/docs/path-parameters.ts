import {
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
} from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { DeclaredRoute } from '../auth/declared-access';
import { MAX_ID } from '../rows/resource.entity';
import { IdPipe } from '../input/id.pipe';
import { EXAMPLE_KEY, KeyPipe } from '../input/key.pipe';
import type { OperationContext, ParameterObject, SchemaObject } from './openapi-types';
import { singular } from './references';
import { parametersFor } from './route-arguments';

/** The metadata key of `@ApiParam` and similar decorators. */
const SWAGGER_PARAMETERS = 'swagger/apiParameters';
const UUID: SchemaObject = { type: 'string', format: 'uuid', minLength: 36, maxLength: 36 };
/** Options of `@ApiParam` that describe the type completely. */
const SAYING = ['type', 'enum', 'format', 'schema', 'pattern', 'content'];

type PipeClass = abstract new (...args: never[]) => object;

/** The schema of what a pipe accepts, and an example. */
const OF_PIPES: [pipe: PipeClass, schema: SchemaObject, example: unknown][] = [
  [IdPipe, { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID }, 1],
  [KeyPipe, UUID, EXAMPLE_KEY],
  [ParseUUIDPipe, UUID, EXAMPLE_KEY],
  [ParseIntPipe, { type: 'integer' }, 1],
  [ParseFloatPipe, { type: 'number' }, 1.5],
  [ParseBoolPipe, { type: 'boolean' }, true],
  [ParseDatePipe, { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00.000Z'],
];

/** True if a path parameter is the id or the key of a resource. */
export function isIdentity({ route }: OperationContext, name: string): boolean {
  return pipesOf(route, name).some((pipe) => isA(pipe, IdPipe) || isA(pipe, KeyPipe));
}

/** True if a path parameter is a random key. */
export function isKeyParameter({ route }: OperationContext, name: string): boolean {
  return pipesOf(route, name).some((pipe) => isA(pipe, KeyPipe));
}

/** Completes what `@ApiParam` or the DTO of the parameters doesn't say, by the parameter's pipe. Default: any text */
export function completePathParameter(parameter: ParameterObject, context: OperationContext): void {
  const { route } = context;
  const { schema, example } = schemaOf(route, parameter);
  if (!isDescribed(route, parameter.name)) parameter.schema = schema;
  // @nestjs/swagger drops the example if there is a schema.
  parameter.example ??= explicit(route, parameter.name)?.example;
  const known = (parameter.schema ?? {}) as SchemaObject;
  if (parameter.examples === undefined && parameter.example === undefined)
    parameter.example =
      (known.example as unknown) ?? (isDescribed(route, parameter.name) ? exampleFor(known) : example);
  delete known.example;
  parameter.description ??= description(parameter.name, context);
}

/**
 * Path parameters without any declaration, e.g. of `@Param() all: Record<string, string>`. A document must list them.
 */
export function undeclaredPathParameters(path: string, known: ParameterObject[]): ParameterObject[] {
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
  const declared = new Set(known.filter((one) => one.in === 'path').map(({ name }) => name));
  return names
    .filter((name) => !declared.has(name))
    .map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function schemaOf(route: DeclaredRoute | undefined, parameter: ParameterObject) {
  for (const pipe of pipesOf(route, parameter.name)) {
    if (pipe instanceof ParseEnumPipe) return ofEnum(pipe);
    const known = OF_PIPES.find(([type]) => isA(pipe, type));
    if (known) return { schema: { ...known[1] }, example: known[2] };
  }
  const found = parameter.schema as SchemaObject | undefined;
  const schema: SchemaObject = found?.type ? found : { type: 'string' };
  return { schema, example: exampleFor(schema) };
}

function ofEnum(pipe: ParseEnumPipe): { schema: SchemaObject; example: unknown } {
  const { enumType } = pipe as unknown as { enumType: Record<string, string | number> };
  // TypeScript's numeric enums also map values to names.
  const values = Object.keys(enumType)
    .filter((name) => !(typeof enumType[enumType[name]] === 'number' && String(enumType[enumType[name]]) === name))
    .map((name) => enumType[name]);
  const type = values.every((value) => typeof value === 'number') ? 'number' : 'string';
  return { schema: { type, enum: values }, example: values[0] };
}

function exampleFor({ type, format, enum: values, minimum, default: fallback }: SchemaObject): unknown {
  if (values) return values[0] as unknown;
  if (fallback !== undefined) return fallback as unknown;
  if (format === 'uuid') return EXAMPLE_KEY;
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? (minimum ?? 1) : 'a';
}

function description(name: string, context: OperationContext): string {
  const segments = context.path.split('/');
  const noun = singular(segments.at(segments.indexOf(`{${name}}`) - 1) ?? '');
  if (isKeyParameter(context, name)) return `The key of the ${noun}.`;
  return isIdentity(context, name) ? `The id of the ${noun}.` : nameInWords(name);
}

/** What is said of a parameter of which nothing is known. */
export const nameInWords = (name: string): string => `The ${name.replace(/_/g, ' ')}.`;

/** True if `@ApiParam` or a documented DTO describes the parameter. */
function isDescribed(route: DeclaredRoute | undefined, name: string): boolean {
  if (!route) return false;
  const said = explicit(route, name);
  if (said && SAYING.some((key) => said[key] !== undefined)) return true;
  return !pathParameters(route).some((one) => one.name === name);
}

/** The options of `@ApiParam`. */
function explicit(route: DeclaredRoute | undefined, name: string): Record<string, unknown> | undefined {
  const given = route && (Reflect.getMetadata(SWAGGER_PARAMETERS, route.targets[0]) as Record<string, unknown>[]);
  return given?.find((one) => one.in === 'path' && one.name === name);
}

const pathParameters = (route: DeclaredRoute) =>
  parametersFor(route).filter(({ kind }) => kind === RouteParamtypes.PARAM);

function pipesOf(route: DeclaredRoute | undefined, name: string): unknown[] {
  if (!route) return [];
  return pathParameters(route).find((one) => one.name === name)?.pipes ?? [];
}

/** A pipe may be a class or an instance. */
function isA(pipe: unknown, type: PipeClass): boolean {
  return pipe instanceof type || (typeof pipe === 'function' && (pipe === type || pipe.prototype instanceof type));
}
