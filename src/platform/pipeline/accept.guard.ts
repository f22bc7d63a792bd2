import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { HEADERS_METADATA, RENDER_METADATA, SSE_METADATA } from '@nestjs/common/constants';
import type { Request } from 'express';
import { PerRoute } from '../auth/per-route';
import { kindOf } from '../auth/request-of';
import { ApiError } from '../errors/api-error';
import { type Controller, writesItself } from '../http/route-parameters';
import { VERSIONS } from '../http/api-version';
import { XML_TYPES } from '../http/xml';
import { PAGE_TYPE } from '../http/route-keys';
import type { DtoClass } from '../input/fields';
import { asksForExport, mayAskForExport } from '../exports/export';

const USUAL_TYPES = `application/json, application/xml, or application/vnd.api+json with version ${VERSIONS.join(' or ')}`;
const PRODUCES = 'resource-api:produces';

/** For {@link Produces}: a representation of any media type. */
export const ANY_TYPE = '*/*';

const JSON_TYPE = 'application/json';

/**
 * The media types that a route produces instead of JSON, or beside JSON if `application/json` is one of them. The
 * handler gets the negotiated type by {@link ProducedType}.
 */
export const Produces = (...mediaTypes: string[]): MethodDecorator => SetMetadata(PRODUCES, mediaTypes);

/** The negotiated media type, one of those of {@link Produces}. */
export const ProducedType = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return context.switchToHttp().getRequest<Request>().produces ?? JSON_TYPE;
});

/** 406 with the media types that the route produces. */
export const notAcceptable = (produced = USUAL_TYPES): ApiError =>
  new ApiError('NOT_ACCEPTABLE', { details: `Accept ${produced}` });

/** The media type that the caller prefers; undefined if it accepts none. */
function preferred(request: Request, mediaTypes: string[]): string | undefined {
  const { accept } = request.headers;
  // A file has one representation, which every caller gets (RFC 9110, 12.4.1).
  const takesAny = mediaTypes[0] === ANY_TYPE || accept === undefined || accept === '*/*';
  const chosen = takesAny ? mediaTypes[0] : request.accepts(mediaTypes);
  if (chosen) return chosen;
  // The caller accepts JSON by the media type that names the version.
  return mediaTypes.includes(JSON_TYPE) && request.representation ? JSON_TYPE : undefined;
}

/** Refuses a request whose `Accept` allows no media type of its route, before anything is done. */
@Injectable()
export class AcceptGuard implements CanActivate {
  private readonly produced = new PerRoute(producedBy);
  private readonly types = new PerRoute(typesByNest);
  private readonly items = new PerRoute((handler) => Reflect.getMetadata(PAGE_TYPE, handler) as DtoClass | undefined);

  canActivate(context: ExecutionContext): boolean {
    if (kindOf(context) !== 'http') return true;
    const request = context.switchToHttp().getRequest<Request>();
    // Routes outside of the API have one representation, which every caller gets.
    if (request.version === undefined) return true;
    const produced = this.produced.of(context);
    if (produced) return choose(request, produced);
    if (mayAskForExport(request) && this.asksForExport(request, context)) return true;
    if (request.representation) return true;
    const types = this.types.of(context);
    if (types.length === 0) throw notAcceptable();
    if (types.includes(ANY_TYPE) || request.accepts(types)) return true;
    throw notAcceptable([JSON_TYPE, XML_TYPES[0], ...types].join(', '));
  }

  private asksForExport(request: Request, context: ExecutionContext): boolean {
    const item = this.items.of(context);
    return item !== undefined && asksForExport(request, item);
  }
}

const producedBy = (handler: object) => Reflect.getMetadata(PRODUCES, handler) as string[] | undefined;

/** Media types beside JSON that Nest's decorators name; any if the handler writes the answer itself. */
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
