import { Injectable, type OnModuleInit, VERSION_NEUTRAL } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { StartupError } from '../config/startup-error';
import { declaredVersions, NAMES } from './versioning';

/** Refuses the start when a route declares a version that doesn't exist. */
@Injectable()
export class DeclaredVersions implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const unknown = this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (metatype ? this.unknownIn(metatype) : []));
    if (unknown.length === 0) return;
    throw new StartupError(
      `These routes are in a version that there is not; there are ${NAMES.join(' and ')}, as texts, and VERSION_NEUTRAL for all ` +
        `of them. A new one is added to VERSIONS in src/platform/http/api-version.ts:\n${unknown.join('\n')}`,
    );
  }

  private unknownIn({
    name,
    prototype,
  }: NonNullable<ReturnType<DiscoveryService['getControllers']>[number]['metatype']>): string[] {
    const handlers = prototype as Record<string, object>;
    const targets: [string, object][] = this.scanner
      .getAllMethodNames(handlers)
      .map((method) => [`${name}.${method}`, handlers[method]]);
    return [[name, handlers.constructor] as [string, object], ...targets].flatMap(([place, target]) =>
      declaredVersions(target)
        .filter((one) => one !== VERSION_NEUTRAL && !NAMES.includes(one as string))
        .map((one) => `  - ${place}: ${JSON.stringify(one)}`),
    );
  }
}
