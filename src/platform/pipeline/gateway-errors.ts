import { type ExceptionFilter, Injectable } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA } from '@nestjs/common/constants';
import { DiscoveryService } from '@nestjs/core';
import { SecurityEvents } from '../auth/security-events';
import { ErrorFilter } from './error.filter';

/** The metadata key of gateways in @nestjs/websockets. The service itself doesn't depend on that package. */
const GATEWAY = 'websockets:is_gateway';

/**
 * Adds the error filter to each gateway, after its own filters: Nest applies global guards and pipes to gateways, but
 * no global filters. Done in the constructor, because Nest looks at gateways after all providers are created.
 */
@Injectable()
export class GatewayErrors {
  constructor(discovery: DiscoveryService, events: SecurityEvents) {
    const filter = new ErrorFilter(events);
    for (const { metatype } of discovery.getProviders()) {
      if (!metatype || !Reflect.hasMetadata(GATEWAY, metatype)) continue;
      const filters = (Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, metatype) ?? []) as ExceptionFilter[];
      // Another application of this process, as in tests, may have added its filter.
      const own = filters.filter((one) => !(one instanceof ErrorFilter));
      Reflect.defineMetadata(EXCEPTION_FILTERS_METADATA, [filter, ...own], metatype);
    }
  }
}
