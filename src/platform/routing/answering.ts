import type { Express } from 'express';
import type { Version } from '../http/api-version';
import { RouteIndex } from './route-index';
import { type ServedRoute, servedRouteOf } from './served-route';

/**
 * The controllers' routes to which a request gets: the one that answers is the last, and those before it may pass the
 * request on.
 * @param method in small letters
 * @param path without a version
 */
export function routesFor(app: Express, version: Version, method: string, path: string): ServedRoute[] {
  const found: ServedRoute[] = [];
  for (const layer of RouteIndex.routesOf(app, path)) {
    const served = servedRouteOf(layer);
    if (!served?.versions.has(version) || !served.covers({ method }) || !layer.match(path)) continue;
    found.push(served);
    if (!served.mayPassOn) break;
  }
  return found;
}

/** The names of the wildcards in the paths of a controller's method. */
export function wildcardsOf(app: Express, method: object): string[] {
  const routes = RouteIndex.routesOf(app).map(servedRouteOf);
  const own = routes.filter((route) => route?.declared.some(({ targets }) => targets[0] === method));
  return own.flatMap((route) => route!.wildcardNames);
}
