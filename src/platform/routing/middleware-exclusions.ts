import { type INestApplication, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { RequestMethod, VERSION_NEUTRAL, type ControllerOptions } from '@nestjs/common';
import type { NestContainer } from '@nestjs/core';
import { CrossOriginProtection } from '@nestjs/core/security/cross-origin-protection';
import { NAMES } from './versioning';

type Configuration = ReturnType<MiddlewareConsumer['apply']>;
type Excluded = Parameters<Configuration['exclude']>[number];
type RouteInfo = Exclude<Excluded, string>;

const EVERY: ControllerOptions['version'] = [VERSION_NEUTRAL, ...NAMES];

/**
 * Makes `exclude('cats')` apply to every version, like `forRoutes('cats')`. Nest itself compares it with paths without
 * a version.
 */
export function excludeInEveryVersion(app: INestApplication): void {
  const { container } = app as unknown as { container: NestContainer };
  for (const { instance } of container.getModules().values()) {
    const module = instance as Partial<NestModule>;
    const configure = module.configure?.bind(module);
    if (!configure) continue;
    const configureWithExclusions: NestModule['configure'] = (consumer) => configure(withExclusions(consumer)) as void;
    module.configure = configureWithExclusions;
  }
}

function withExclusions(consumer: MiddlewareConsumer): MiddlewareConsumer {
  const apply = consumer.apply.bind(consumer);
  return Object.assign(consumer, {
    apply: (...middleware: Parameters<typeof apply>) => {
      const configuration = apply(...middleware);
      const exclude = configuration.exclude.bind(configuration);
      return Object.assign(configuration, { exclude: (...routes: Excluded[]) => exclude(...routes.map(inEvery)) });
    },
  });
}

const resolve = Object.getOwnPropertyDescriptor(CrossOriginProtection.prototype, 'resolveExclusions')
  ?.value as CrossOriginProtection['resolveExclusions'];

/** The same for `app.enableCsrfProtection({ exclude: ['cats'] })`, whenever it is called. */
CrossOriginProtection.prototype.resolveExclusions = function (this: CrossOriginProtection, paths) {
  const routes = this['excludedRoutes'] as RouteInfo[];
  routes.splice(0, routes.length, ...(routes.map(inEvery) as RouteInfo[]));
  return resolve.call(this, paths);
};

function inEvery(route: Excluded): Excluded {
  const info = typeof route === 'string' ? { path: route, method: RequestMethod.ALL } : route;
  // A wildcard excludes everything anyway.
  const isWildcard = /^\/?[*{(]/.test(info.path);
  return info.version || isWildcard ? route : { ...info, version: EVERY };
}
