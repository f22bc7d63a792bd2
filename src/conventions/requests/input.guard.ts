import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings';
import { ITEM_TYPE } from '../docs/api.decorators';
import { type FieldViolation, validationError } from '../errors/api-error';
import { attributesOf, type DtoClass, parseFields } from '../responses/fields';
import { type BodyReader, jsonBodyReader } from './json-body';
import './request-context';

interface RouteInput {
  takesBody: boolean;
  takesQuery: boolean;
  /** What a single-resource read answers with, whose attributes `fields` may name. */
  item?: DtoClass;
}

/**
 * Reads what the request carries. A guard, because it must come after the guards that say 401 and 403 and before the
 * pipes that validate what it read.
 */
@Injectable()
export class InputGuard implements CanActivate {
  private readonly inputs = new WeakMap<object, RouteInput>();
  private readonly readBody: BodyReader;

  constructor(settings: Settings) {
    this.readBody = jsonBodyReader(settings.JSON_BODY_LIMIT);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const input = this.inputOf(context);
    if (!input.takesQuery) request.fields = this.checkQuery(request, input);
    if (input.takesBody) request.body = await this.readBody(request, context.switchToHttp().getResponse<Response>());
    return true;
  }

  /** A route that declares no query takes none, but for `fields` where it reads one resource. */
  private checkQuery({ query }: Request, { item }: RouteInput): string[] | undefined {
    const { fields, ...others } = query as Record<string, string>;
    const unknown = Object.keys(fields !== undefined && !item ? query : others);
    const violations: FieldViolation[] = unknown.map((field) => ({
      field,
      rule: 'unknown',
      message: 'is not a parameter of this route',
    }));
    if (violations.length > 0) throw validationError(violations);
    return item && fields !== undefined ? parseFields(fields, attributesOf(item)) : undefined;
  }

  private inputOf(context: ExecutionContext): RouteInput {
    const handler = context.getHandler();
    const known = this.inputs.get(handler) ?? readInput(context.getClass(), handler);
    this.inputs.set(handler, known);
    return known;
  }
}

function readInput(controller: object, handler: { name: string }): RouteInput {
  // Keys are `<parameter kind>:<index>`.
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as object;
  const kinds = new Set(Object.keys(parameters).map((key) => Number(key.split(':')[0])));
  return {
    takesBody: kinds.has(RouteParamtypes.BODY),
    takesQuery: kinds.has(RouteParamtypes.QUERY),
    item: Reflect.getMetadata(ITEM_TYPE, handler) as DtoClass | undefined,
  };
}
