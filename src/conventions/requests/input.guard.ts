import { type CanActivate, type ExecutionContext, Injectable, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { MetadataScanner } from '@nestjs/core';
import type { Request, Response } from 'express';
import { accessOf } from '../../auth/access.decorators';
import { Callers } from '../../auth/callers';
import { PerRoute } from '../../auth/per-route';
import { kindOf } from '../../auth/request-of';
import { Settings } from '../../config/settings';
import { IS_PAGE, ITEM_TYPE } from '../docs/api.decorators';
import { validationError } from '../errors/api-error';
import { IS_IDEMPOTENT, KEY_HEADER, keyNotTaken, NO_KEY } from '../idempotency/idempotency.interceptor';
import { CursorSeal } from '../lists/cursor';
import { CURSORS, type ListQuery, PAGE_PARAMETERS, WORK } from '../lists/list-query';
import { attributesOf, type DtoClass, parseFields } from '../responses/fields';
import { bodyLimitOf } from './body-limit';
import { type BodyReader, jsonBodyReader } from './json-body';
import './request-context';
import { allow, TIME_LIMIT } from './takes-up-to';
import { VERSIONS } from './version';

interface RouteInput {
  takesBody: boolean;
  /** The most that its body may have, in bytes, where that is less than elsewhere. */
  bodyLimit?: number;
  takesQuery: boolean;
  /** Whether it answers with a page of a collection. */
  pages: boolean;
  /** Whether it takes an Idempotency-Key. */
  takesKey: boolean;
  /** Milliseconds, when it has a limit of its own. */
  timeLimit?: number;
  /** Why it takes none. */
  noKey?: string;
  /** What a single-resource read answers with, whose attributes `fields` may name. */
  item?: DtoClass;
}

type Controller = { prototype: Record<string, unknown> };

const scanner = new MetadataScanner();

/**
 * Reads what the request carries. A guard, because it must come after the guards that say 401 and 403 and before the
 * pipes that validate what it read.
 */
@Injectable()
export class InputGuard implements CanActivate {
  private readonly inputs = new PerRoute(readInput);
  private readonly readBody: BodyReader;

  constructor(
    settings: Settings,
    private readonly cursorSeal: CursorSeal,
    private readonly callers: Callers,
  ) {
    this.readBody = jsonBodyReader(settings.JSON_BODY_LIMIT);
  }

  /** Without a promise where nothing has to be waited for: Nest then goes on at once. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (kindOf(context) !== 'http') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const input = this.inputs.of(context);
    if (input.timeLimit !== undefined) allow(request, input.timeLimit);
    this.checkQuery(request, input);
    if (isKeyedPost(request) && !input.takesKey) throw keyNotTaken(input.noKey);
    if (input.pages) this.prepareList(request);
    return input.takesBody ? this.takeBody(context, input) : true;
  }

  /** What a list needs to know of its request besides its parameters. */
  private prepareList(request: Request): void {
    const query = request.query as ListQuery;
    query[WORK] = request.work;
    if (request.version === 2) query[CURSORS] = this.cursorSeal.cursorsOf(request);
  }

  private async takeBody(context: ExecutionContext, { bodyLimit }: RouteInput): Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const awaited = !request.complete;
    request.body = await this.readBody(request, http.getResponse<Response>(), bodyLimit);
    // A client that keeps its body back chooses how old the guards' decision is.
    if (awaited) await this.callers.confirm(request.user, accessOf(context));
    return true;
  }

  /** A route that declares no query takes none, but for `fields` where it reads one resource. */
  private checkQuery(request: Request, { item, takesQuery }: RouteInput): void {
    const { fields } = request.query as Record<string, string | undefined>;
    if (takesQuery) refuseNames(namesOfOtherVersions(request));
    else refuseNames(Object.keys(request.query).filter((name) => !(item && name === 'fields')));
    if (item && fields !== undefined) request.fields = parseFields(fields, attributesOf(item));
  }
}

/** Any other method may be repeated as it is. */
function isKeyedPost({ method, headers }: Request): boolean {
  return method === 'POST' && headers[KEY_HEADER.toLowerCase()] !== undefined;
}

/** How other versions of the API page. */
function namesOfOtherVersions({ query, version }: Request): string[] {
  return VERSIONS.filter((one) => one !== version && PAGE_PARAMETERS[one] in query).map((one) => PAGE_PARAMETERS[one]);
}

function refuseNames(names: string[]): void {
  if (names.length === 0) return;
  throw validationError(
    names.map((field) => ({ field, rule: 'unknown', message: 'is not a parameter of this route' })),
  );
}

function readInput(handler: object, controller: Controller): RouteInput {
  // Keys are `<parameter kind>:<index>`.
  const parameters = namesOf(handler, controller).map(
    (name) => Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as object | undefined,
  );
  const kinds = new Set(parameters.flatMap((keys = {}) => Object.keys(keys).map((key) => Number(key.split(':')[0]))));
  const reads = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET;
  return {
    takesBody: kinds.has(RouteParamtypes.BODY),
    bodyLimit: bodyLimitOf(controller, handler),
    takesQuery: kinds.has(RouteParamtypes.QUERY),
    takesKey: Reflect.hasMetadata(IS_IDEMPOTENT, handler),
    noKey: Reflect.getMetadata(NO_KEY, handler) as string | undefined,
    timeLimit: Reflect.getMetadata(TIME_LIMIT, handler) as number | undefined,
    pages: Reflect.hasMetadata(IS_PAGE, handler),
    item: reads ? (Reflect.getMetadata(ITEM_TYPE, handler) as DtoClass | undefined) : undefined,
  };
}

/** As what a controller has a handler: a decorator may have wrapped it into a function of another name. */
function namesOf(handler: object, { prototype }: Controller): string[] {
  return scanner.getAllMethodNames(prototype).filter((name) => prototype[name] === handler);
}
