import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { getMetadataStorage } from 'class-validator';
import { type Controller, parametersOf } from '../http/route-parameters';
import { ITEM_TYPE, PAGE_TYPE } from '../http/route-keys';
import type { DtoClass } from '../input/fields';
import { INCLUDE_RULE } from '../input/query-parameters';
import { itemOfList } from '../lists/list-query';

const { QUERY } = RouteParamtypes;
/** The metadata key of @nestjs/swagger's decorators. */
const API_PARAMETERS = 'swagger/apiParameters';

/**
 * The DTO of the resource that a route answers, alone or on a page, if the route takes `include`. A route whose own
 * parameter has this name keeps it.
 */
export function includingOf(handler: object, controller: Controller): DtoClass | undefined {
  const queries = parametersOf(handler, controller).filter(({ kind }) => kind === QUERY);
  const whole = queries.find(({ name }) => name === undefined);
  const item = Reflect.getMetadata(ITEM_TYPE, handler) as DtoClass | undefined;
  if (!whole) return [...queries, ...documented(handler), ...documented(controller)].some(isInclude) ? undefined : item;
  if (!takesInclude(whole.type)) return undefined;
  return item ?? itemOfList(whole.type) ?? (Reflect.getMetadata(PAGE_TYPE, handler) as DtoClass | undefined);
}

const isInclude = ({ name }: { name?: string }): boolean => name === 'include';

const documented = (target: object) => (Reflect.getMetadata(API_PARAMETERS, target) ?? []) as { name?: string }[];

/** True for a class with `@IncludeList()`, also if `OmitType` or the like has made it. */
function takesInclude(query: unknown): boolean {
  if (typeof query !== 'function') return false;
  const rules = getMetadataStorage().getTargetValidationMetadatas(query, '', false, false);
  return rules.some(({ propertyName, name }) => propertyName === 'include' && name === INCLUDE_RULE);
}
