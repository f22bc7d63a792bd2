import type { NestInterceptor, PipeTransform, Type } from '@nestjs/common';
import { INTERCEPTORS_METADATA, SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { type Controller, parametersOf } from '../http/route-parameters';

const MULTER_OPTIONS = 'MULTER_MODULE_OPTIONS';

/** The fields of files by the pipes that check them. Undefined for a pipe that checks the files of several fields. */
const fields = new WeakMap<object, string | undefined>();

/** True if one of Nest's interceptors reads forms. */
export const hasMulter = (target: object): boolean => multersOf(target).length > 0;

/** Remembers the form field of a handler's files for {@link fieldOfFiles}: a pipe that misses a file is given nothing. */
export function noteFileFields(handler: object, controller: Controller): void {
  const names = new Set([handler, controller].flatMap(multersOf).flatMap(fieldsOf));
  const field = names.size === 1 ? [...names][0] : undefined;
  const kinds = [RouteParamtypes.FILE, RouteParamtypes.FILES];
  const parameters = parametersOf(handler, controller).filter(({ kind }) => kinds.includes(kind));
  for (const pipe of parameters.flatMap(({ pipes }) => pipes)) {
    fields.set(pipe, !fields.has(pipe) || fields.get(pipe) === field ? field : undefined);
  }
}

/** The form field of the files that these pipes check. Undefined if there are several, or none. */
export function fieldOfFiles(pipes: PipeTransform[]): string | undefined {
  for (const pipe of pipes) {
    // Nest makes the instance of a pipe that a handler names by its class.
    const known = fields.has(pipe) ? pipe : pipe.constructor;
    if (fields.has(known)) return fields.get(known);
  }
  return undefined;
}

/** The classes of Nest's interceptors for files among those of a handler or a controller. Each injects multer's options. */
function multersOf(target: object): Type<NestInterceptor>[] {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? []) as Type<NestInterceptor>[];
  return interceptors.flatMap((interceptor) => {
    for (let one: unknown = interceptor; typeof one === 'function'; one = Object.getPrototypeOf(one)) {
      const asked = (Reflect.getOwnMetadata(SELF_DECLARED_DEPS_METADATA, one) ?? []) as { param?: unknown }[];
      if (asked.some(({ param }) => param === MULTER_OPTIONS)) return one as Type<NestInterceptor>;
    }
    return [];
  });
}

interface Asked {
  intercept: (context: object) => Promise<unknown>;
}

/** Nest keeps the names of the fields in the interceptor, which tells them to its multer when it is called. */
function fieldsOf({ prototype }: Type<NestInterceptor>): string[] {
  const names: string[] = [];
  const take = (...taken: string[]): never => {
    names.push(...taken);
    throw new Error('The names of the fields are all that is asked for');
  };
  const multer = {
    single: (name: string) => take(name),
    array: (name: string) => take(name),
    fields: (all: { name: string }[]) => take(...all.map(({ name }) => name)),
    any: () => take(),
    none: () => take(),
  };
  const asked = Object.assign(Object.create(prototype as object) as Asked, { multer });
  asked.intercept({ switchToHttp: () => ({}) }).catch(() => undefined);
  return names;
}
