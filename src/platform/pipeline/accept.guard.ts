import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { HEADERS_METADATA, RENDER_METADATA, SSE_METADATA } from '@nestjs/common/constants';
import type { Request } from 'express';
import { PerRoute } from '../auth/per-route';
import { kindOf } from '../auth/request-of';
import { ApiError } from '../errors/api-error';
import { RouteMetadata } from '../http/route-metadata';
import { type Controller, writesItself } from '../http/route-parameters';
import { VERSIONS } from '../http/api-version';

const JSON_TYPES = `application/json, or application/vnd.api+json with version ${VERSIONS.join(' or ')}`;
const PRODUCES = 'resource-api:produces';

/** For {@link Produces}: whatever the type of what is asked for is. */
export const ANY_TYPE = '*/*';

const JSON_TYPE = 'application/json';

/**
 * The media types that a route answers with instead of JSON; or, with `application/json` among them, as an alternative to
 * it. Its handler learns by {@link ProducedType} which of them the caller prefers.
 */
export const Produces = (...mediaTypes: string[]): MethodDecorator => SetMetadata(PRODUCES, mediaTypes);

/** The one of the media types of {@link Produces} that the caller is to get. */
export const ProducedType = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<Request>().produces ?? JSON_TYPE;
});

/** 406, with what there is to accept. */
export const notAcceptable = (produced = JSON_TYPES): ApiError =>
  new ApiError('NOT_ACCEPTABLE', { details: `Accept ${produced}` });

/** The one that the caller prefers; undefined when it takes none of them. */
function preferred(request: Request, mediaTypes: string[]): string | undefined {
  const { accept } = request.headers;
  // Of a file there is one representation: whoever asks for it gets that (RFC 9110, 12.4.1).
  const takesAny = mediaTypes[0] === ANY_TYPE || accept === undefined || accept === '*/*';
  const chosen = takesAny ? mediaTypes[0] : request.accepts(mediaTypes);
  if (chosen) return chosen;
  // By the media type that names the version.
  return mediaTypes.includes(JSON_TYPE) && request.representation ? JSON_TYPE : undefined;
}

/** Refuses, before anything is done, a request whose `Accept` allows nothing that its route can answer with. */
@Injectable()
export class AcceptGuard implements CanActivate {
  private readonly metadata = new RouteMetadata();
  private readonly types = new PerRoute(typesByNest);

  canActivate(context: ExecutionContext): boolean {
    if (kindOf(context) !== 'http') return true;
    const request = context.switchToHttp().getRequest<Request>();
    // Outside of the API there is one representation of everything, for whoever asks.
    if (request.version === undefined) return true;
    const produced = this.metadata.getAllAndOverride<string[] | undefined>(PRODUCES, [context.getHandler()]);
    if (produced) return choose(request, produced);
    if (request.representation) return true;
    const types = this.types.of(context);
    if (types.length === 0) throw notAcceptable();
    if (types.includes(ANY_TYPE) || request.accepts(types)) return true;
    throw notAcceptable([JSON_TYPE, ...types].join(', '));
  }
}

/** Besides JSON, the media types that decorators of Nest name; any where the handler itself writes the answer. */
function typesByNest(handler: object, controller: Controller): string[] {
  if (Reflect.hasMetadata(SSE_METADATA, handler)) return ['text/event-stream'];
  const headers = (Reflect.getMetadata(HEADERS_METADATA, handler) ?? []) as { name: string; value: unknown }[];
  const types = headers.filter(({ name }) => name.toLowerCase() === 'content-type').map(({ value }) => value);
  if (types.length > 0)
    return types.map((type) => (typeof type === 'string' ? type.split(';', 1)[0].trim() : ANY_TYPE));
  if (writesItself(handler, controller)) return [ANY_TYPE];
  return Reflect.hasMetadata(RENDER_METADATA, handler) ? ['text/html'] : [];
}

function choose(request: Request, produced: string[]): true {
  const chosen = preferred(request, produced);
  if (chosen === undefined) throw notAcceptable(produced.join(', '));
  if (chosen !== JSON_TYPE && chosen !== ANY_TYPE) request.produces = chosen;
  return true;
}
