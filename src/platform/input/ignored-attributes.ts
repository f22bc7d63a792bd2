import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import { getMetadataStorage } from 'class-validator';
import { ITEM_TYPE } from '../http/route-keys';
import { type Controller, parametersOf } from '../http/route-parameters';
import { attributesOf, type DtoClass } from './fields';

/** The attributes of every resource that the service sets. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'version'];

/**
 * The attributes that a PUT ignores, so that a client can send back what it has read (D-224): the read-only ones of the
 * resource that it answers. An attribute that the class of the body declares is not ignored.
 */
export function ignoredAttributes(handler: object, controller: Controller): string[] {
  const resource = Reflect.getMetadata(ITEM_TYPE, handler) as DtoClass | undefined;
  if (!resource || Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.PUT) return [];
  const parameters = parametersOf(handler, controller);
  const whole = parameters.find(({ kind, name }) => kind === RouteParamtypes.BODY && name === undefined);
  const declared = namesIn(whole?.type);
  const shown = attributesOf(resource);
  return declared.length === 0 ? [] : READ_ONLY.filter((name) => shown.includes(name) && !declared.includes(name));
}

/** The names that a class accepts in a body. Empty if nothing validates the body. */
function namesIn(type: unknown): string[] {
  if (typeof type !== 'function') return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const exposed = defaultMetadataStorage.getExposedMetadatas(type);
  return [...rules.map(({ propertyName }) => propertyName), ...exposed.flatMap(({ options }) => options.name ?? [])];
}

/** Removes attributes from a parsed body. Returns the same value. */
export function withoutAttributes(body: unknown, names: string[]): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (isObject) for (const name of names) Reflect.deleteProperty(body, name);
  return body;
}
