import { type INestApplication, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { RequestMethod, VERSION_NEUTRAL, type ControllerOptions } from '@nestjs/common';
import type { NestContainer } from '@nestjs/core';
import { NAMES } from './versioning';

type Configuration = ReturnType<MiddlewareConsumer['apply']>;
type Excluded = Parameters<Configuration['exclude']>[number];

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

function inEvery(route: Excluded): Excluded {
  const info = typeof route === 'string' ? { path: route, method: RequestMethod.ALL } : route;
  // A wildcard excludes everything anyway.
  const isWildcard = /^\/?[*{(]/.test(info.path);
  return info.version || isWildcard ? route : { ...info, version: EVERY };
}
