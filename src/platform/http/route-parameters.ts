import type { PipeTransform, Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, RESPONSE_PASSTHROUGH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { MetadataScanner } from '@nestjs/core';

/** A parameter of a handler, known from its decorators and from the compiler's metadata. */
export interface Parameter {
  kind: RouteParamtypes;
  /** E.g. the name of a path parameter. Undefined for a parameter without one, e.g. the whole query. */
  name?: string;
  pipes: (PipeTransform | Type<PipeTransform>)[];
  type: unknown;
  /** A Standard Schema that a pipe may read. */
  schema?: unknown;
  /** The function of a decorator that `createParamDecorator()` has made. */
  factory?: unknown;
}

export type Controller = { prototype: Record<string, unknown> };

interface Raw {
  index: number;
  data?: unknown;
  pipes?: Parameter['pipes'];
  schema?: unknown;
  factory?: unknown;
}

const scanner = new MetadataScanner();

export function parametersOf(handler: object, controller: Controller): Parameter[] {
  return namesOf(handler, controller).flatMap((method) => {
    const metadata = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, Raw>;
    const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype, method) ?? []) as unknown[];
    // Keys are `<parameter kind>:<index>`.
    return Object.entries(metadata).map(([key, { index, data, pipes = [], schema, factory }]) => ({
      kind: Number(key.split(':')[0]),
      name: typeof data === 'string' ? data : undefined,
      pipes,
      type: types[index],
      schema,
      factory,
    }));
  });
}

/**
 * True if the handler writes the answer itself, by a parameter without `passthrough`.
 * @param kinds the kinds of parameters by which a handler may write
 */
export function writesItself(
  handler: object,
  controller: Controller,
  kinds: RouteParamtypes[] = [RouteParamtypes.RESPONSE],
): boolean {
  const passes = (method: string) => Reflect.hasMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method);
  if (namesOf(handler, controller).some(passes)) return false;
  return parametersOf(handler, controller).some(({ kind }) => kinds.includes(kind));
}

/**
 * The names under which a controller has the handler: a decorator may have wrapped it into a function of another name.
 */
function namesOf(handler: object, { prototype }: Controller): string[] {
  return scanner.getAllMethodNames(prototype).filter((name) => prototype[name] === handler);
}
