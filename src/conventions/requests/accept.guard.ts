import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import { kindOf } from '../../auth/request-of';
import { ApiError } from '../errors/api-error';
import './request-context';
import { RouteMetadata } from './route-metadata';
import { VERSIONS } from './version';

const JSON_TYPES = `application/json, or application/vnd.api+json with version ${VERSIONS.join(' or ')}`;
const PRODUCES = 'resource-api:produces';

/** For {@link Produces}: whatever the type of what is asked for is. */
export const ANY_TYPE = '*/*';

/** The one media type that a route answers with instead of JSON. */
export const Produces = (mediaType: string): MethodDecorator => SetMetadata(PRODUCES, mediaType);

/** 406, with what there is to accept. */
export const notAcceptable = (produced = JSON_TYPES): ApiError =>
  new ApiError('NOT_ACCEPTABLE', { details: `Accept ${produced}` });

function accepts(request: Request, mediaType: string): boolean {
  const { accept } = request.headers;
  // Of a file there is one representation: whoever asks for it gets that (RFC 9110, 12.4.1).
  return mediaType === ANY_TYPE || accept === undefined || accept === '*/*' || request.accepts(mediaType) !== false;
}

/** Refuses, before anything is done, a request whose `Accept` allows nothing that its route can answer with. */
@Injectable()
export class AcceptGuard implements CanActivate {
  private readonly metadata = new RouteMetadata();

  canActivate(context: ExecutionContext): boolean {
    if (kindOf(context) !== 'http') return true;
    const request = context.switchToHttp().getRequest<Request>();
    // Outside of the API there is one representation of everything, for whoever asks.
    if (request.version === undefined) return true;
    const other = this.metadata.getAllAndOverride<string | undefined>(PRODUCES, [context.getHandler()]);
    if (other ? accepts(request, other) : request.representation) return true;
    throw notAcceptable(other);
  }
}
