import { VERSION_NEUTRAL } from '@nestjs/common';
import { HOST_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { RequestHandler } from 'express';
import { type Version, VERSIONS } from '../http/api-version';
import { parametersOf } from '../http/route-parameters';
import { type ControllerRoute, nameOf, routesOfHandler } from './controller-methods';
import type { Layer } from './route-index';
import { onlyIn, serves } from './route-versions';
import { declaredVersions } from './versioning';

/** A backslash takes the meaning from the character behind it. */
const PARAMETER_NAME = /\\.|([:*])(?:"((?:\\.|[^"\\])*)"|([\p{ID_Continue}$]+))/gu;

const routes = new WeakMap<RequestHandler, ServedRoute>();

/** The controller's route of a layer; undefined for what is added by hand. */
export function servedRouteOf({ route }: Layer): ServedRoute | undefined {
  return route && routes.get(route.stack[0].handle);
}

/** A controller's route in the routing table, where it is once for all versions. Nest adds it once for each version. */
export class ServedRoute {
  readonly versions = new Set<Version>();
  /** Calls the handler in the versions of the route. */
  readonly filtered: RequestHandler;
  /** The stack of the router that had the route at first, and its layer there. */
  stack: Layer[];
  layer: Layer;

  /**
   * @param added the handler that Nest has made of the controller's method
   * @param handler the handler that calls it
   */
  constructor(
    readonly method: string,
    readonly path: string,
    private readonly added: RequestHandler,
    private readonly handler: RequestHandler,
  ) {
    this.filtered = onlyIn(this.versions, handler);
    serves(this.filtered, this.versions);
    serves(handler, this.versions);
    for (const one of [this.filtered, handler]) routes.set(one, this);
  }

  get isInAll(): boolean {
    return this.versions.size === VERSIONS.length;
  }

  /** A route in all versions needs no filter. */
  update(): void {
    for (const one of this.layer.route!.stack) one.handle = this.isInAll ? this.handler : this.filtered;
  }

  /** The pattern of the path without the names of its parameters, which don't matter to what it matches. */
  get shape(): string {
    return this.path.replace(PARAMETER_NAME, (found, sign?: string) => sign ?? found).toLowerCase();
  }

  /** True if the route says in which versions it is. */
  get isNamed(): boolean {
    return !this.isInAll || this.declared.some(namesVersions);
  }

  /** True if the route may leave a request to the next one that matches: that of another host, or by `next()`. */
  get mayPassOn(): boolean {
    return this.declared.some(
      ({ owner, targets: [method] }) =>
        Reflect.getMetadata(HOST_METADATA, owner) !== undefined ||
        parametersOf(method, owner).some(({ kind }) => kind === RouteParamtypes.NEXT),
    );
  }

  get name(): string {
    return this.declared.map(nameOf).join(' or ');
  }

  /** As controllers declare it. They are several if it isn't known which of the heirs of a method this is. */
  get declared(): ControllerRoute[] {
    return routesOfHandler(this.added);
  }

  get parameterNames(): string[] {
    return this.namesBehind(':', '*');
  }

  /** The names of the parameters that may have several segments. */
  get wildcardNames(): string[] {
    return this.namesBehind('*');
  }

  private namesBehind(...signs: string[]): string[] {
    const found = [...this.path.matchAll(PARAMETER_NAME)];
    return found.flatMap(([, sign, quoted, name]) => (signs.includes(sign) ? (quoted ?? name) : []));
  }

  /** True if each method of the other route is one of this route, too. */
  covers({ method }: Pick<ServedRoute, 'method'>): boolean {
    // GET also answers HEAD.
    return this.method === method || this.method === 'all' || (this.method === 'get' && method === 'head');
  }
}

function namesVersions({ targets: [method, owner] }: ControllerRoute): boolean {
  const ofMethod = declaredVersions(method);
  const versions = ofMethod.length > 0 ? ofMethod : declaredVersions(owner);
  return versions.length > 0 && !versions.includes(VERSION_NEUTRAL);
}
