import { Controller, Get, Inject, Injectable, Post, Scope } from '@nestjs/common';
import { ContextIdFactory, type ContextIdStrategy, type HostComponentInfo, REQUEST } from '@nestjs/core';
import type { Request } from 'express';
import { Idempotent, Public, Role, Roles } from '../../../src/platform';

const TENANTS = new Map<string, ReturnType<typeof ContextIdFactory.create>>();

/** As in the documentation of durable providers. */
export class TenantContextIds implements ContextIdStrategy<Request> {
  attach(contextId: ReturnType<typeof ContextIdFactory.create>, request: Request) {
    const tenant = request.headers?.['x-tenant'];
    if (typeof tenant !== 'string') return () => contextId;
    const known = TENANTS.get(tenant) ?? ContextIdFactory.create();
    TENANTS.set(tenant, known);
    return {
      resolve: (info: HostComponentInfo) => (info.isTreeDurable ? known : contextId),
      payload: { tenant },
    };
  }
}

@Injectable({ scope: Scope.REQUEST })
export class WhoAsks {
  constructor(@Inject(REQUEST) readonly request: Request) {}
}

let made = 0;

@Injectable({ scope: Scope.REQUEST, durable: true })
export class OfTenant {
  readonly number = ++made;

  constructor(@Inject(REQUEST) readonly context: { tenant?: string }) {}
}

@Controller('scoped')
@Roles(Role.USER)
export class ScopedController {
  constructor(private readonly who: WhoAsks) {}

  @Get()
  get(): object {
    return { user: this.who.request.user!.id, request: this.who.request.id };
  }

  @Post()
  @Idempotent()
  create(): object {
    return { user: this.who.request.user!.id };
  }
}

@Controller('durable')
@Public()
export class DurableController {
  constructor(private readonly own: OfTenant) {}

  @Get()
  get(): object {
    return { tenant: this.own.context.tenant, number: this.own.number };
  }
}
