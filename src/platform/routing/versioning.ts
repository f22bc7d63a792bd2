import { type INestApplication, type VersioningOptions, VersioningType } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/internal';
import type { ApplicationConfig } from '@nestjs/core';
import { StartupError } from '../config/startup-error';
import { VERSIONS } from '../http/api-version';
import { API_PREFIX } from './version';

type PrefixOptions = ReturnType<ApplicationConfig['getGlobalPrefixOptions']>;
type PrefixMethods = Pick<ApplicationConfig, 'enableVersioning' | 'setGlobalPrefix' | 'setGlobalPrefixOptions'>;

export const NAMES: string[] = VERSIONS.map(String);

/**
 * Nest's versioning by path: a route without @Version() exists in all versions. The adapter keeps one path for all of
 * them, and treats a version in `Accept` alike.
 */
export function versioning(defaultVersion = NAMES): VersioningOptions {
  return { type: VersioningType.URI, defaultVersion };
}

/**
 * Sets the prefix and the versions, and refuses later changes: both are promised to clients. Paths of `exclude` are
 * added to the exceptions.
 */
export function fixPaths(app: INestApplication, outside: string[]): void {
  const config = configOf(app);
  const before = config.getVersioning();
  if (before) requireOurs(before);
  if (config.getGlobalPrefix()) requirePrefix(config.getGlobalPrefix());
  const { exclude: excluded = [] } = config.getGlobalPrefixOptions();
  app.enableVersioning(versioning());
  app.setGlobalPrefix(API_PREFIX, { exclude: outside });
  const add = ({ exclude = [], ...options }: PrefixOptions): void => {
    const { exclude: known = [] } = config.getGlobalPrefixOptions();
    methodsOf(config).setGlobalPrefixOptions.call(config, { ...options, exclude: [...known, ...exclude] });
  };
  add({ exclude: excluded });
  Object.assign(config, {
    enableVersioning: requireOurs,
    setGlobalPrefix: requirePrefix,
    setGlobalPrefixOptions: add,
  } satisfies PrefixMethods);
}

/** Nest's configuration of an application, which its types don't declare. */
export const configOf = (app: INestApplication): ApplicationConfig =>
  (app as unknown as { config: ApplicationConfig }).config;

/** The original methods of Nest's configuration. */
const methodsOf = (config: ApplicationConfig) => Object.getPrototypeOf(config) as ApplicationConfig;

function requirePrefix(prefix: string): void {
  if (prefix.replace(/^\//, '') === API_PREFIX) return;
  throw new StartupError(
    `The prefix can't be "${prefix}": links, versions, CORS and the documentation are all for /${API_PREFIX}. Change API_PREFIX ` +
      `in src/platform/routing/version.ts, or leave routes outside of it by setGlobalPrefix('${API_PREFIX}', { exclude: [...] }).`,
  );
}

function requireOurs(options: VersioningOptions): void {
  const { type, defaultVersion } = options;
  const isPlain = type === VersioningType.URI && (options.prefix ?? 'v') === 'v';
  if (isPlain && (defaultVersion === undefined || String(defaultVersion) === String(NAMES))) return;
  throw new StartupError(
    'app.enableVersioning() is called already, and its options are promised to clients: versions are named by the path, such as ' +
      `/${API_PREFIX}/v${NAMES[0]}, or by Accept, and a route without @Version() is in all of them (${NAMES.join(', ')}). Leave the ` +
      'call out: @Version() and @Controller({ version }) work without it. A further version is added to VERSIONS in src/platform/http/api-version.ts.',
  );
}

/** The versions of a decorator; empty without one. */
export function declaredVersions(target: object): unknown[] {
  const declared: unknown = Reflect.getMetadata(VERSION_METADATA, target);
  return declared === undefined ? [] : [declared].flat();
}
