import { DefaultValuePipe, RequestMethod, type Type, ValidationPipe } from '@nestjs/common';
import {
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  PIPES_METADATA,
  SELF_DECLARED_DEPS_METADATA,
} from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { IS_PAGE, ITEM_TYPE } from '../http/route-keys';
import { IS_IDEMPOTENT, NO_KEY } from '../idempotency/idempotent';
import { isListQuery } from '../lists/list-query';
import type { DtoClass } from '../input/fields';
import { bodyLimitOf, bodyValuesOf } from './body-limit';
import type { BodyRules } from './body-reader';
import { MULTIPART, URL_ENCODED, usualTypes } from './media-types';
import { primitiveMessage } from '../input/primitives';
import { type Controller, type Parameter, parametersOf } from '../http/route-parameters';
import { TIME_LIMIT } from './takes-up-to';

/** A number or boolean that comes as text, and has no pipe of its own to say what is wrong with it. */
export interface Primitive {
  from: 'params' | 'query';
  name: string;
  type: unknown;
}

/** What a route takes. */
export interface RouteInput {
  /** Undefined where nobody has the body read. */
  body?: BodyRules;
  /** Whether the handler takes the request itself: what is neither JSON nor a form it may stream. */
  streams: boolean;
  /** The most that a form with files may have, in bytes, or `true` for as much as any body; undefined where it takes none. */
  multipart?: number | true;
  /** Names of its query parameters; undefined where it takes any, for their class to judge. */
  query?: string[];
  primitives: Primitive[];
  /** Whether it answers with a page of a collection. */
  pages: boolean;
  /** Whether it takes an Idempotency-Key. */
  takesKey: boolean;
  /** Why it takes none. */
  noKey?: string;
  /** Milliseconds, when it has a limit of its own. */
  timeLimit?: number;
  /** What a single-resource read answers with, whose attributes `fields` may name. */
  item?: DtoClass;
}

/** Where @nestjs/swagger keeps what its decorators say, and platform-express what its interceptors for files ask for. */
const API_CONSUMES = 'swagger/apiConsumes';
const API_PARAMETERS = 'swagger/apiParameters';
const MULTER_OPTIONS = 'MULTER_MODULE_OPTIONS';
/** What Nest's own parsers read for every handler. */
const LIKE_NEST = [...usualTypes('PATCH'), URL_ENCODED];
/** What Nest takes as it comes. */
const NO_CLASSES: unknown[] = [String, Boolean, Number, Array, Object, Buffer, Date];
const { BODY, FILE, FILES, PARAM, QUERY, RAW_BODY, REQUEST } = RouteParamtypes;

const read = (key: string, target: object): unknown => Reflect.getMetadata(key, target);

export function routeInput(handler: object, controller: Controller): RouteInput {
  const parameters = parametersOf(handler, controller);
  const has = (...kinds: RouteParamtypes[]) => parameters.some(({ kind }) => kinds.includes(kind));
  const types = (read(API_CONSUMES, handler) ?? read(API_CONSUMES, controller)) as string[] | undefined;
  const limit = bodyLimitOf(controller, handler);
  const isForm = has(FILE, FILES) || hasMulter(handler) || hasMulter(controller);
  const takesForms = isForm || (has(BODY) && types?.includes(MULTIPART));
  const whole = parameters.find(({ kind, name }) => kind === BODY && name === undefined);
  const reads = read(METHOD_METADATA, handler) === RequestMethod.GET;
  return {
    body: has(BODY, RAW_BODY, REQUEST)
      ? {
          limit,
          values: bodyValuesOf(controller, handler),
          types: types ?? (has(BODY) ? undefined : LIKE_NEST),
          mayBeList: mayBeList(whole?.type),
          as: whole?.type === String ? 'text' : whole?.type === Buffer ? 'bytes' : undefined,
        }
      : undefined,
    streams: !has(BODY, RAW_BODY),
    multipart: takesForms ? (limit ?? true) : undefined,
    query: queryNames(parameters, handler, controller),
    primitives: [handler, controller].some(hasPipes) ? [] : primitivesOf(parameters),
    takesKey: Reflect.hasMetadata(IS_IDEMPOTENT, handler),
    noKey: read(NO_KEY, handler) as string | undefined,
    timeLimit: read(TIME_LIMIT, handler) as number | undefined,
    pages:
      Reflect.hasMetadata(IS_PAGE, handler) || parameters.some(({ kind, type }) => kind === QUERY && isListQuery(type)),
    item: reads ? (read(ITEM_TYPE, handler) as DtoClass | undefined) : undefined,
  };
}

/** Of a class one is made; what is declared as a list, or as anything, may be a list. */
function mayBeList(type: unknown): boolean {
  return type === Array || type === Object;
}

/** Whether its body is a list, as a whole, and nothing says of which class the items are. */
export function takesUntypedList(handler: object, controller: Controller): boolean {
  return (
    ![handler, controller].some(hasPipes) &&
    parametersOf(handler, controller).some(
      ({ kind, name, type, pipes }) => kind === BODY && name === undefined && type === Array && pipes.length === 0,
    )
  );
}

/** The classes of whole bodies, queries and paths. */
export function inputClasses(handler: object, controller: Controller): Type<object>[] {
  return parametersOf(handler, controller)
    .filter(({ kind, name }) => name === undefined && [BODY, QUERY, PARAM].includes(kind))
    .flatMap(({ type }) => (typeof type === 'function' && !NO_CLASSES.includes(type) ? (type as Type<object>) : []));
}

function queryNames(parameters: Parameter[], handler: object, controller: Controller): string[] | undefined {
  const queries = parameters.filter(({ kind }) => kind === QUERY);
  if (queries.some(({ name }) => name === undefined)) return undefined;
  const documented = [handler, controller].flatMap(
    (target) => (read(API_PARAMETERS, target) ?? []) as { in?: string; name?: string }[],
  );
  const names = documented.filter((one) => one.in === 'query').map(({ name }) => name);
  return [...queries.map(({ name }) => name), ...names].filter((name) => name !== undefined);
}

function primitivesOf(parameters: Parameter[]): Primitive[] {
  return parameters
    .filter(
      ({ kind, pipes }) => [QUERY, PARAM].includes(kind) && pipes.every((pipe) => pipe instanceof DefaultValuePipe),
    )
    .filter(({ name, type }) => name !== undefined && primitiveMessage(type) !== undefined)
    .map(({ kind, name, type }) => ({ from: kind === PARAM ? 'params' : 'query', name: name!, type }));
}

/** Which may read the texts of parameters. */
function hasPipes(target: object): boolean {
  const pipes = (read(PIPES_METADATA, target) ?? []) as unknown[];
  return pipes.some((pipe) => pipe !== ValidationPipe && !(pipe instanceof ValidationPipe));
}

/** Whether an interceptor of Nest's reads forms: each asks for the options of multer. */
function hasMulter(target: object): boolean {
  const interceptors = (read(INTERCEPTORS_METADATA, target) ?? []) as object[];
  return interceptors.some((interceptor) => {
    const asked = (Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, interceptor) ?? []) as { param?: unknown }[];
    return asked.some(({ param }) => param === MULTER_OPTIONS);
  });
}
