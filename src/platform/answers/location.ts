import type { Application, Request } from 'express';
import { methodsAt } from '../routing/unknown-route';
import { NO_LITERAL, RouteIndex } from '../routing/route-index';
import { asSent, pathsOf, ROOT } from '../routing/version';

/**
 * Where a created resource may be found: below its own noun (/posts/1), below the path of the POST, or at that path
 * itself.
 */
type Place = 'own' | 'nested' | 'itself';

/**
 * Keyed by version, route pattern, and whether there is an id. The place depends on the routes only, not on the
 * request.
 */
const known = new WeakMap<Application, Map<string, Place | undefined>>();

/**
 * The path of the resource that a POST has created: the path with its id, if there is a route for it. A POST that
 * creates nothing, such as a payment, gets no `Location`.
 */
export function locationOf(body: unknown, request: Request): string | undefined {
  if (request.method !== 'POST' || typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const id = idOf(body);
  const place = placeFor(request, id);
  return place === undefined ? undefined : asSent(pathTo(place, request, id), request);
}

function idOf(body: object): string | undefined {
  const { id } = body as { id?: unknown };
  return typeof id === 'number' || typeof id === 'string' ? encodeURIComponent(id) : undefined;
}

/** The path in the routing table. POST /api/users/7/posts creates /api/posts/1. */
function pathTo(place: Place, request: Request, id = ''): string {
  const { inTable } = pathsOf(request);
  const path = inTable.endsWith('/') ? inTable.slice(0, -1) : inTable;
  if (place === 'itself') return path;
  const root = request.version === undefined ? '' : ROOT;
  return `${place === 'own' ? root + path.slice(path.lastIndexOf('/')) : path}/${id}`;
}

function placeFor(request: Request, id: string | undefined): Place | undefined {
  const { path: pattern } = request.route as { path: unknown };
  if (typeof pattern !== 'string' || endsOpen(pattern)) return findPlace(request, id);
  let places = known.get(request.app);
  if (!places) known.set(request.app, (places = new Map<string, Place | undefined>()));
  const key = `${request.version} ${id === undefined ? '' : 'id '}${pattern}`;
  if (!places.has(key)) places.set(key, findPlace(request, id));
  return places.get(key);
}

const endsOpen = (pattern: string): boolean => NO_LITERAL.test(pattern.slice(pattern.lastIndexOf('/')));

function findPlace(request: Request, id: string | undefined): Place | undefined {
  if (id === undefined) return isResource(request) ? 'itself' : undefined;
  const isThere = (place: Place) => {
    const path = pathTo(place, request, id);
    return methodsAt({ asSent: asSent(path, request), inTable: path }, request).includes('GET');
  };
  return (['own', 'nested'] as const).find(isThere);
}

/**
 * True if the path of the POST has a route for another method except GET. GET mostly reads the list, and an answer
 * without an id may be one that an interceptor has reshaped.
 */
function isResource(request: Request): boolean {
  const { path: pattern } = request.route as { path: unknown };
  const same = RouteIndex.routesOf(request.app, pathsOf(request).inTable).filter(
    (layer) => layer.route!.path === pattern,
  );
  const methods = same.flatMap((layer) => Object.keys(layer.route!.methods));
  return !methods.includes('get') && methods.some((method) => !['post', '_all'].includes(method));
}
