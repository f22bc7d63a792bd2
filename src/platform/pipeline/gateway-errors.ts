import { type ExceptionFilter, Injectable } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA } from '@nestjs/common/constants';
import { DiscoveryService } from '@nestjs/core';
import { SecurityEvents } from '../auth/security-events';
import { ErrorFilter } from './error.filter';

/** Where @nestjs/websockets, which the service itself doesn't need, keeps that a class is a gateway. */
const GATEWAY = 'websockets:is_gateway';

/**
 * Gives each gateway the error filter, behind its own: Nest applies global guards and pipes to gateways, but no global
 * filter. In the constructor, as Nest looks at gateways once everything is made.
 */
@Injectable()
export class GatewayErrors {
  constructor(discovery: DiscoveryService, events: SecurityEvents) {
    const filter = new ErrorFilter(events);
    for (const { metatype } of discovery.getProviders()) {
      if (!metatype || !Reflect.hasMetadata(GATEWAY, metatype)) continue;
      const filters = (Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, metatype) ?? []) as ExceptionFilter[];
      // Another application of this process, as in a test, may have given it its own.
      const own = filters.filter((one) => !(one instanceof ErrorFilter));
      Reflect.defineMetadata(EXCEPTION_FILTERS_METADATA, [filter, ...own], metatype);
    }
  }
}
