import type { Application, Request } from 'express';
import type { Version } from '../http/api-version';
import { describedBy } from '../http/described-by';
import { ITEM_TYPE, PAGE_TYPE } from '../http/route-keys';
import { controllerMethodOf } from '../routing/controller-methods';
import { type Layer, RouteIndex } from '../routing/route-index';
import { versionsOf } from '../routing/route-versions';
import { pathsOf, ROOT, searchOf } from '../routing/version';

type Route = NonNullable<Layer['route']>;

/** What the links of all answers of a route have in common. */
interface RouteLinks {
  /** How many segments the path of the resource is shorter than that of the request. Undefined if it can't be read. */
  above: number | undefined;
  /** Whether the path without its last segment is a collection. */
  isMember: boolean;
  /** What follows the address of the resource. */
  afterSelf: string;
  /** What follows the address of the collection. */
  afterCollection: string;
  /** The whole line for an answer without an address. */
  other: string;
}

/** A parameter of a pattern, whatever its name is. */
const PARAMETER = /:\w+/g;
const ENDS_IN_PARAMETER = /\/:\w+$/;
/** What may not stand in the target of a link. A path has bytes beyond ASCII as Node reads them: one for each character. */
const UNSAFE = /[^\x21\x23-\x3b\x3d\x3f-\x7e]/g;

/** By the route, then by version and by whether something was created. The links depend on routes, not on requests. */
const known = new WeakMap<object, (RouteLinks | null)[]>();

/**
 * The `Link` line of an answer with one resource (RFC 8288, RFC 6573): where it can be read again, the collection that it
 * is a member of, and the document (D-231). A line, as Node would check and join a header, which takes four times as long.
 * @param location the path of what was created
 */
export function linkLineOf(request: Request, location: string | undefined): string {
  const links = request.version === undefined ? null : linksOf(request, request.version, location);
  if (links === null) return '';
  if (links.above === undefined) return links.other;
  if (location !== undefined) return lineOf(location, '', links);
  const path = safe(withoutSlash(pathsOf(request).asSent));
  return lineOf(links.above === 0 ? path : parentOf(path), queryOf(request), links);
}

function lineOf(path: string, query: string, { isMember, afterSelf, afterCollection }: RouteLinks): string {
  return `Link: <${path}${query}${afterSelf}${isMember ? `${parentOf(path)}${afterCollection}` : ''}`;
}

/** The query of a request as a link may show it, with its question mark, or the empty text. */
export function queryOf({ originalUrl }: Request): string {
  const search = searchOf(originalUrl);
  return search.length > 1 ? `?${new URLSearchParams(search).toString()}` : '';
}

const safe = (path: string): string =>
  path.replace(UNSAFE, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

function linksOf(request: Request, version: Version, location: string | undefined): RouteLinks | null {
  const route = request.route as Route | undefined;
  if (!route) return null;
  let ofRoute = known.get(route);
  if (!ofRoute) known.set(route, (ofRoute = []));
  const place = 2 * version + (location === undefined ? 0 : 1);
  return (ofRoute[place] ??= findLinks(request, route, version, location));
}

function findLinks(request: Request, route: Route, version: Version, location: string | undefined): RouteLinks | null {
  const item = typeOf(route, ITEM_TYPE, version);
  if (item === undefined) return null;
  const { app } = request;
  const pattern = location === undefined ? route.path : patternOf(location, route.path, request);
  const places = location === undefined ? [pattern, parentOf(pattern)] : [pattern];
  const above = places.findIndex((one) => typeAt(app, one, ITEM_TYPE, version) === item);
  const own = above === 1 ? parentOf(pattern) : pattern;
  const page = typeAt(app, parentOf(own), PAGE_TYPE, version);
  const isMember = page !== undefined && (page === item || ENDS_IN_PARAMETER.test(own));
  const document = describedBy(app, version);
  const end = `${document === undefined ? '' : `, ${document}`}\r\n`;
  return {
    above: above < 0 ? undefined : above,
    isMember,
    afterSelf: `>; rel="self"${isMember ? ', <' : end}`,
    afterCollection: `>; rel="collection"${end}`,
    other: document === undefined ? '' : `Link: ${document}\r\n`,
  };
}

/** The pattern of what a POST has created: below its own noun, or below the path of the POST. */
function patternOf(location: string, pattern: string, request: Request): string {
  const path = withoutSlash(pathsOf(request).asSent);
  if (location === path) return pattern;
  return `${parentOf(location) === path ? pattern : ROOT + pattern.slice(pattern.lastIndexOf('/'))}/:id`;
}

/** What GET of a pattern answers. */
function typeAt(app: Application, pattern: string, key: string, version: Version): unknown {
  const asked = pattern.replace(PARAMETER, ':');
  const found = RouteIndex.routesOf(app).filter(({ route }) => {
    const { path, methods } = route!;
    return methods.get && typeof path === 'string' && path.replace(PARAMETER, ':') === asked;
  });
  return found.map(({ route }) => typeOf(route!, key, version)).find((type) => type !== undefined);
}

/** The class that a controller's route answers. Undefined if it is of another kind, or not of this version. */
function typeOf({ stack }: Route, key: string, version: Version): unknown {
  const methods = stack.flatMap(({ handle }) =>
    versionsOf(handle)?.has(version) ? (controllerMethodOf(handle) ?? []) : [],
  );
  return methods.map((method) => Reflect.getMetadata(key, method) as unknown).find((type) => type !== undefined);
}
