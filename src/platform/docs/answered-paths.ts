import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Express } from 'express';
import type { DeclaredRoute } from '../auth/declared-access';
import type { Version } from '../http/api-version';
import { copyOf } from '../rows/copy';
import { routesFor, wildcardsOf } from '../routing/answering';
import { tablePathOf } from '../routing/route-versions';
import type { ServedRoute } from '../routing/served-route';
import { sortedPaths } from './canonical-order';
import type { OperationObject, PathItemObject } from './openapi-types';

/** The methods that a document says of a route for all methods: HEAD and OPTIONS are answered everywhere. */
export const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;
/** The version of routes that name none, while a document is made. */
export const UNNAMED = 'any';

/** The metadata keys of `@ApiExtension` and `@ApiWebhook`. */
const SWAGGER_EXTENSION = 'swagger/apiExtension';
const SWAGGER_WEBHOOK = 'swagger/apiWebhook';
const OF_UNNAMED = new RegExp(`^(/api)?/v${UNNAMED}(?=/|$)`);
/** A parameter of a documented path, with its name. */
export const PARAMETER = /\{([^{}]*)\}/g;
const MARK = '~';
/** The last of the methods that @nestjs/swagger lists for a route for all methods. OpenAPI 3.1 doesn't know it. */
const QUERY = 'query';
/** By how many segments a wildcard is documented, at most. */
const MAX_SEGMENTS = 5;

/** An operation of a handler, at a path without a version. */
interface Found {
  path: string;
  method: string;
  operation: OperationObject;
  /** Undefined for an operation of no declared route. */
  handler: object | undefined;
  /** How many segments the path has for a wildcard. Default: one */
  segments?: number;
}

/**
 * Makes a document in which each handler has methods of its own, such as `get~7` for GET. @nestjs/swagger keeps one
 * operation for a method and a path: that of the last handler, which seldom is the one that answers.
 */
export function toldApart(routes: DeclaredRoute[], make: () => OpenAPIObject): OpenAPIObject {
  const handlers = routes.map(({ targets: [handler] }) => handler);
  const marked = new Map<object, unknown>();
  try {
    for (const [index, handler] of handlers.entries()) {
      if (marked.has(handler) || Reflect.hasMetadata(SWAGGER_WEBHOOK, handler)) continue;
      marked.set(handler, Reflect.getOwnMetadata(SWAGGER_EXTENSION, handler));
      const verb = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod].toLowerCase();
      const others = Reflect.getMetadata(SWAGGER_EXTENSION, handler) as object | undefined;
      Reflect.defineMetadata(SWAGGER_EXTENSION, { ...others, method: `${verb}${MARK}${index}` }, handler);
    }
    return make();
  } finally {
    for (const [handler, before] of marked) {
      if (before === undefined) Reflect.deleteMetadata(SWAGGER_EXTENSION, handler);
      else Reflect.defineMetadata(SWAGGER_EXTENSION, before, handler);
    }
  }
}

/**
 * The paths of one version, with the operations of the handlers that answer there (D-315).
 * @param document made by {@link toldApart}
 */
export function answeredPaths(
  document: OpenAPIObject,
  routes: DeclaredRoute[],
  version: Version,
  app: Express,
): OpenAPIObject['paths'] {
  const places = new Map<string, Found[]>();
  const add = (found: Found) => {
    const place = placeOf(found);
    places.set(place, [...(places.get(place) ?? []), found]);
  };
  for (const found of operationsOf(document, routes, version)) add(found);
  const paths = new Map<string, PathItemObject>();
  // The loop also gets to the places that it adds.
  for (const found of places.values()) {
    const [{ path, method }] = found;
    const reached = routesFor(app, version, method, sampleOf(path));
    const shown = choose(found, reached);
    for (const other of found) if (other !== shown) longer(other, app).forEach(add);
    if (!shown) continue;
    const where = shown.path.replace(/^\/api(?=\/|$)/, `/api/v${version}`);
    paths.set(where, { ...paths.get(where), [method]: shown.operation });
  }
  return sortedPaths(Object.fromEntries(paths));
}

function operationsOf({ paths }: OpenAPIObject, routes: DeclaredRoute[], version: Version): Found[] {
  return Object.entries<PathItemObject>(paths).flatMap(([path, item]) => {
    const table = tablePathOf(path.replace(OF_UNNAMED, `$1/v${version}`));
    if (table.version !== undefined && table.version !== version) return [];
    return Object.entries(item as Record<string, OperationObject>).flatMap(([key, operation]) => {
      const [verb, index] = key.split(MARK);
      if (verb === QUERY) return [];
      const handler = routes[Number(index)]?.targets[0];
      const methods = verb === 'all' ? METHODS : [verb];
      return methods.map((method) => ({
        path: table.path,
        method,
        handler,
        operation: verb === 'all' ? ofMethod(operation, method) : operation,
      }));
    });
  });
}

/** Each method of a route for all methods has an operation with an id of its own. structuredClone() refuses functions of extensions. */
function ofMethod(operation: OperationObject, method: string): OperationObject {
  const copy = copyOf(operation);
  copy.operationId = copy.operationId?.replace(new RegExp(`_${QUERY}$`), `_${method}`);
  return copy;
}

/** The method and the path without the names of its parameters, which don't matter to what it matches. */
const placeOf = ({ path, method }: Found) => `${method} ${path.replace(PARAMETER, '{}').toLowerCase()}`;

/** A path that requests may have. No route has such a segment of its own. */
const sampleOf = (path: string) => path.replace(PARAMETER, (_found, name: string) => `${MARK}${name}`);

/** The operation of the route that answers, or else of one that may pass on. One that no route tells of stays. */
function choose(found: Found[], reached: ServedRoute[]): Found | undefined {
  if (reached.length === 0) return found.at(-1);
  const inOrder = [reached.at(-1)!, ...reached.slice(0, -1)];
  const first = inOrder.find((route) => found.some((one) => isOf(one, route)));
  return first && found.find((one) => isOf(one, first));
}

/** A wildcard that doesn't answer one segment may answer more of them. */
function longer(found: Found, app: Express): Found[] {
  const { path, handler, segments = 1 } = found;
  const wildcards = handler ? wildcardsOf(app, handler) : [];
  const name = wildcards.find((one) => path.includes(`{${one}}`));
  if (name === undefined || segments >= MAX_SEGMENTS) return [];
  const last = segments === 1 ? `{${name}}` : `{${name}_${segments}}`;
  return [{ ...found, path: path.replace(last, `${last}/{${name}_${segments + 1}}`), segments: segments + 1 }];
}

const isOf = ({ handler }: Found, { declared }: ServedRoute): boolean =>
  handler === undefined || declared.some(({ targets: [method] }) => method === handler);
