import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Post,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Role, Roles } from '../../src/platform';
import { times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

describe('Permissions finer than roles', () => {
  const RequirePermissions = Reflector.createDecorator<string[]>();
  const Audited = (by: string) => SetMetadata('audited', by);
  const order: string[] = [];
  /** A permission for each user. */
  const granted = new Map<number, string[]>();
  const Permissions = createParamDecorator((_: unknown, context: ExecutionContext) => {
    const { user } = context.switchToHttp().getRequest<Request>();
    return granted.get(user!.id) ?? [];
  });

  @Injectable()
  class PermissionsGuard implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext): boolean {
      const targets = [context.getHandler(), context.getClass()];
      const required = this.reflector.getAllAndOverride(RequirePermissions, targets);
      const audited = this.reflector.get<string | undefined>('audited', context.getHandler());
      if (audited) order.push(`audited by ${audited}`);
      if (!required) return true;
      const { user } = context.switchToHttp().getRequest<Request>();
      order.push(`permissions of ${user ? 'a user' : 'nobody'}`);
      return required.every((one) => granted.get(user!.id)?.includes(one));
    }
  }

  /** Lets the owner of a place in, as the documentation of guards shows. */
  @Injectable()
  class OwnerGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const { user, params } = context.switchToHttp().getRequest<Request>();
      return user!.id === Number(params.owner);
    }
  }

  @Controller('reports')
  @Roles(Role.USER)
  @RequirePermissions(['reports:read'])
  class ReportsController {
    @Get()
    list(@Permissions() permissions: string[]): object {
      return { permissions };
    }

    @Post()
    @RequirePermissions(['reports:write'])
    @Audited('someone')
    create(): object {
      return {};
    }

    @Get(':owner/own')
    @UseGuards(OwnerGuard)
    own(): object {
      return {};
    }
  }

  @Module({ controllers: [ReportsController], providers: [{ provide: APP_GUARD, useClass: PermissionsGuard }] })
  class ReportsModule {}
  const api = useTestApi({ imports: [ReportsModule] });

  it("are asked for by an APP_GUARD of a team's, behind those of the service", async () => {
    const [reader, writer, nobody] = await Promise.all(times(3, () => api.user()));
    granted.set(reader.id, ['reports:read']);
    granted.set(writer.id, ['reports:read', 'reports:write']);

    expect((await api.get('/reports')).status).toBe(401);
    expect(order).toEqual([]);
    expect((await api.as(nobody).get('/reports')).status).toBe(403);
    expect((await api.as(reader).get('/reports')).body.data).toEqual({ permissions: ['reports:read'] });
    expect((await api.as(reader).post('/reports')).status).toBe(403);
    expect((await api.as(writer).post('/reports')).status).toBe(201);
    expect(order).toContain('audited by someone');
    expect(order).not.toContain('permissions of nobody');
    expect((await api.as(reader).get(`/reports/${reader.id}/own`)).status).toBe(200);
    expect((await api.as(reader).get(`/reports/${writer.id}/own`)).status).toBe(403);
  });
});
