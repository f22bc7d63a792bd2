import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit, RequestMethod } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';
import { DeclaredAccess, type DeclaredRoute } from '../auth/declared-access';
import { PREFETCHES, type Wanted } from '../auth/prefetch';
import { StartupError } from '../config/startup-error';
import { IS_IDEMPOTENT, NO_KEY } from '../idempotency/idempotent';
import { type Parameter, parametersOf, writesItself } from '../http/route-parameters';
import { takesPrecondition } from '../input/if-match';
import { type Fillers, unfilledParameters } from './unfilled-parameters';

/** Parameters by which a handler sends its answer itself, unless they have `passthrough`. */
const BY_HAND = [RouteParamtypes.RESPONSE, RouteParamtypes.NEXT];
const NO_VIEWS =
  'These routes render a view, and there is no engine for it; call app.setViewEngine() before the application listens, ' +
  "give the view's name its extension, or return the page as a text with @Header('Content-Type', 'text/html')";
const NOT_KEPT =
  'These routes take an Idempotency-Key, and what they answer can not be kept for it; return the answer ' +
  '(@Res({ passthrough: true }) is fine), or replace @Creates(Dto) by @AnswersWhole(Dto, 201), @Idempotent() by @TakesNoKey(reason)';
const WITHOUT_KEY =
  'These routes answer 201 and refuse an Idempotency-Key; add @Creates(Dto) or @Idempotent(), ' +
  '@HttpCode(200) where nothing is created, or @TakesNoKey(reason)';
/** Methods whose handlers may write a row. */
const WRITING = [RequestMethod.POST, RequestMethod.PUT, RequestMethod.PATCH, RequestMethod.DELETE, RequestMethod.ALL];
const READS_ONLY =
  'These handlers take @IfMatch(), which is undefined there whatever a client sends: only POST, PUT, PATCH and DELETE have a ' +
  'precondition. Leave it out; a read honours If-None-Match by itself';
const NOTHING_TO_PREFETCH =
  'These handlers have @Prefetches(), and nothing would be prefetched: it reads the row of a path parameter such as @IdParam() for a ' +
  "GET. Name another parameter by @Prefetches(Entity, 'name'), or leave it out; a write reads its row when it writes it";

/** Checks before the first request that handlers can do what their decorators promise. */
@Injectable()
export class HandlerChecks implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger(HandlerChecks.name);

  /** What may fill parameters before handlers are called. Default: unknown, so nothing is refused */
  fillers?: () => Fillers;

  constructor(
    private readonly access: DeclaredAccess,
    private readonly host: HttpAdapterHost,
  ) {}

  /** @throws {StartupError} for routes that could never answer as declared */
  onModuleInit(): void {
    const routes = this.access.routes();
    refuse(
      routes.filter((route) => rendersNothing(route, this.host)),
      NO_VIEWS,
    );
    refuse(
      routes.filter((route) => Reflect.hasMetadata(IS_IDEMPOTENT, handlerOf(route)) && endsItself(route)),
      NOT_KEPT,
    );
    refuse(
      routes.filter((route) => !isWrite(route) && takesPrecondition(handlerOf(route), route.owner)),
      READS_ONLY,
    );
    refuse(routes.filter(prefetchesNothing), NOTHING_TO_PREFETCH);
    if (!this.fillers) return;
    for (const [reason, unfilled] of unfilledParameters(routes, this.fillers())) refuse(unfilled, reason);
  }

  onApplicationBootstrap(): void {
    const routes = this.access.routes().filter((route) => refusesKeys(handlerOf(route)));
    if (routes.length > 0) this.logger.warn(listed(routes, WITHOUT_KEY));
  }
}

const handlerOf = ({ targets: [handler] }: DeclaredRoute): object => handler;

const isWrite = (route: DeclaredRoute): boolean =>
  WRITING.includes(Reflect.getMetadata(METHOD_METADATA, handlerOf(route)) as RequestMethod);

function prefetchesNothing({ targets: [handler], owner }: DeclaredRoute): boolean {
  const wanted = Reflect.getMetadata(PREFETCHES, handler) as Wanted | undefined;
  if (!wanted) return false;
  const isParameter = ({ kind, name }: Parameter) => kind === RouteParamtypes.PARAM && name === wanted.name;
  return (
    Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET ||
    !parametersOf(handler, owner).some(isParameter)
  );
}

function rendersNothing(route: DeclaredRoute, { httpAdapter }: HttpAdapterHost): boolean {
  const view = Reflect.getMetadata(RENDER_METADATA, handlerOf(route)) as string | undefined;
  if (view === undefined || /\.\w+$/.test(view)) return false;
  return httpAdapter.getInstance<Express>().get('view engine') === undefined;
}

function endsItself(route: DeclaredRoute): boolean {
  const handler = handlerOf(route);
  const others = [REDIRECT_METADATA, RENDER_METADATA, SSE_METADATA];
  if (others.some((key) => Reflect.hasMetadata(key, handler))) return true;
  return writesItself(handler, route.owner, BY_HAND);
}

/** POST answers 201 by default, so it counts as a route that creates something unless it sets another status. */
function refusesKeys(handler: object): boolean {
  if (Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.POST) return false;
  if ([IS_IDEMPOTENT, NO_KEY].some((key) => Reflect.hasMetadata(key, handler))) return false;
  const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  return status === undefined || status === 201;
}

function refuse(routes: DeclaredRoute[], reason: string): void {
  if (routes.length > 0) throw new StartupError(listed(routes, reason));
}

const listed = (routes: DeclaredRoute[], reason: string): string =>
  `${reason}:\n${routes.map(({ name }) => `  - ${name}`).join('\n')}`;
