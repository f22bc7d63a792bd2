import { DefaultValuePipe, RequestMethod, type Type, ValidationPipe } from '@nestjs/common';
import { METHOD_METADATA, PIPES_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { CREATES_EACH, ITEM_TYPE, PAGE_TYPE } from '../http/route-keys';
import { IS_IDEMPOTENT, NO_KEY } from '../idempotency/idempotent';
import { itemOfList } from '../lists/list-query';
import type { DtoClass } from '../input/fields';
import { declaredBody } from './declared-body';
import { bodyLimitOf, bodyValuesOf } from './body-limit';
import { hasMulter, noteFileFields } from './file-fields';
import { includingOf } from './including';
import type { BodyRules } from './body-parsing';
import { LIST_TYPES, MULTIPART, URL_ENCODED, usualTypes } from './media-types';
import { ignoredAttributes } from '../input/ignored-attributes';
import { primitiveMessage } from '../input/primitives';
import { type Controller, type Parameter, parametersOf } from '../http/route-parameters';
import { TIME_LIMIT } from './time-limit.decorator';

/** A number or boolean in the path or query that no pipe of its own checks. */
export interface Primitive {
  from: 'params' | 'query';
  name: string;
  type: unknown;
}

/** The input of a route. */
export interface RouteInput {
  /** Undefined if the service doesn't read the body. */
  body?: BodyRules;
  /** True if the handler takes the request itself. It may stream a body that is neither JSON nor a form. */
  streams: boolean;
  /** The limit of a multipart form in bytes, `true` for the general limit, or undefined if the route takes none. */
  multipart?: number | true;
  /** The allowed query parameters. Undefined if a class validates the query. */
  query?: string[];
  primitives: Primitive[];
  /** True if the route answers with a page. */
  pages: boolean;
  /** True if the route accepts an Idempotency-Key. */
  takesKey: boolean;
  /** The reason why it accepts no key. */
  noKey?: string;
  /** The route's own time limit in milliseconds. */
  timeLimit?: number;
  /** The DTO of the single resource that a GET returns. `fields` may name its attributes. */
  item?: DtoClass;
  /** The DTO of the resource of a GET that takes `include`. What it may name is declared with the DTO. */
  including?: DtoClass;
}

/** The metadata keys of @nestjs/swagger's decorators. */
const API_CONSUMES = 'swagger/apiConsumes';
const API_PARAMETERS = 'swagger/apiParameters';
/** The media types that Nest's own parsers accept for every handler. */
const LIKE_NEST = [...usualTypes('PATCH'), URL_ENCODED];
/** Types of parameters that Nest doesn't validate. */
const NO_CLASSES: unknown[] = [String, Boolean, Number, Array, Object, Buffer, Date];
const { BODY, FILE, FILES, PARAM, QUERY, RAW_BODY, REQUEST } = RouteParamtypes;

const read = (key: string, target: object): unknown => Reflect.getMetadata(key, target);

export function routeInput(handler: object, controller: Controller): RouteInput {
  const parameters = parametersOf(handler, controller);
  const has = (...kinds: RouteParamtypes[]) => parameters.some(({ kind }) => kinds.includes(kind));
  const types = (read(API_CONSUMES, handler) ?? read(API_CONSUMES, controller)) as string[] | undefined;
  const limit = bodyLimitOf(controller, handler);
  const isForm = has(FILE, FILES) || hasMulter(handler) || hasMulter(controller);
  if (has(FILE, FILES)) noteFileFields(handler, controller);
  const takesForms = isForm || (has(BODY) && types?.includes(MULTIPART));
  const whole = parameters.find(({ kind, name }) => kind === BODY && name === undefined);
  const reads = read(METHOD_METADATA, handler) === RequestMethod.GET;
  const takesEach = Reflect.hasMetadata(CREATES_EACH, handler);
  return {
    body: has(BODY, RAW_BODY, REQUEST)
      ? {
          limit,
          values: bodyValuesOf(controller, handler),
          types: types ?? (takesEach ? LIST_TYPES : has(BODY) ? undefined : LIKE_NEST),
          mayBeList: takesEach || mayBeList(whole?.type),
          declared: declaredBody(parameters),
          takesXml: has(BODY) && !types,
          ignored: ignoredAttributes(handler, controller),
          inputs: takesEach,
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
      Reflect.hasMetadata(PAGE_TYPE, handler) ||
      parameters.some(({ kind, type }) => kind === QUERY && itemOfList(type) !== undefined),
    item: reads ? (read(ITEM_TYPE, handler) as DtoClass | undefined) : undefined,
    including: reads ? includingOf(handler, controller) : undefined,
  };
}

/** A parameter declared as a list, or as anything, may be a list. A class takes one object. */
function mayBeList(type: unknown): boolean {
  return type === Array || type === Object;
}

/** True if the whole body is a list, and the class of its items is unknown. */
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

/** True if the target has pipes of its own, which may parse the texts of parameters. */
function hasPipes(target: object): boolean {
  const pipes = (read(PIPES_METADATA, target) ?? []) as unknown[];
  return pipes.some((pipe) => pipe !== ValidationPipe && !(pipe instanceof ValidationPipe));
}
