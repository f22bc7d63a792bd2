import {
  All,
  type ArgumentsHost,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Head,
  HostParam,
  HttpCode,
  HttpException,
  ImATeapotException,
  Module,
  type NestInterceptor,
  Next,
  Options,
  Param,
  Post,
  Req,
  Search,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { Public, Role, Roles } from '../../src/platform';
import { expectError, sendRaw } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

@Controller('cups')
@Public()
class CupsController {
  @Get()
  list(): object {
    return { cups: [] };
  }

  @Get(':id')
  get(@Param('id') id: string): object {
    return { id };
  }
}

@Controller('saucers')
@Roles(Role.ADMIN)
class SaucersController {
  @Get()
  list(): object {
    return { saucers: [] };
  }
}

@Module({ controllers: [SaucersController] })
class SaucersModule {}

@Module({ controllers: [CupsController], imports: [SaucersModule] })
class CupsModule {}

@Controller(['kettles', 'pots'])
@Roles(Role.ADMIN)
class KettlesController {
  @Get(['hot', 'cold'])
  find(): object {
    return { found: true };
  }
}

@Controller('patterns')
@Public()
class PatternsController {
  @All('all')
  all(): object {
    return { all: true };
  }

  @Get('files/*path')
  file(@Param('path') path: string[]): object {
    return { path: String(path) };
  }

  @Get('maybe{/:part}')
  optional(@Param('part') part?: string): object {
    return { part: part ?? null };
  }

  @Get(':from-:to')
  range(@Param('from') from: string, @Param('to') to: string): object {
    return { from, to };
  }

  @Search('search')
  @HttpCode(200)
  search(): object {
    return { searched: true };
  }

  @Head('head')
  head(): void {}

  @Options('options')
  @HttpCode(204)
  options(): void {}

  @Post('echo')
  @HttpCode(200)
  echo(@Body() body: Record<string, unknown>): object {
    return body;
  }
}

@Controller({ path: 'tenant', host: ':name.example.com' })
@Public()
class TenantController {
  @Get()
  get(@HostParam('name') name: string): object {
    return { name };
  }
}

@Controller('hooks')
@Public()
class HooksController {
  @Post('payment')
  @HttpCode(200)
  payment(): object {
    return { received: true };
  }

  @Get('other')
  other(): object {
    return { inside: true };
  }
}

const seen: [by: string, url: string, path: string][] = [];
const see = (by: string, { url, path }: Request) => void seen.push([by, url, path]);

class UrlGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    see('guard', context.switchToHttp().getRequest());
    return true;
  }
}

class UrlInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    see('interceptor', context.switchToHttp().getRequest());
    return next.handle();
  }
}

/** As Nest's documentation has it. */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const statusCode = exception.getStatus();
    host.switchToHttp().getResponse<Response>().status(statusCode).json({ statusCode, path: request.url });
  }
}

@Controller('urls')
@Public()
@UseGuards(UrlGuard)
@UseInterceptors(UrlInterceptor)
@UseFilters(HttpExceptionFilter)
class UrlsController {
  @Get('fail')
  fail(): never {
    throw new ImATeapotException();
  }

  @Get('passed')
  pass(@Req() request: Request, @Next() next: NextFunction): void {
    see('passing handler', request);
    next();
  }

  @Get(':id')
  get(@Req() request: Request): object {
    see('handler', request);
    return { id: request.params.id };
  }

  @Post(':id')
  @HttpCode(200)
  post(@Req() request: Request): object {
    see('handler', request);
    return { id: request.params.id };
  }
}

@Module({
  imports: [
    CupsModule,
    RouterModule.register([
      { path: 'kitchen', module: CupsModule, children: [{ path: 'drawer', module: SaucersModule }] },
    ]),
  ],
  controllers: [KettlesController, PatternsController, TenantController, HooksController, UrlsController],
})
class RoutesModule {}

const ROOTS = ['/api', '/api/v1', '/api/v2'];

describe.each(['after', 'before'])('Routes, with routes outside of the prefix named %s configureApp', (when) => {
  const exclude = { exclude: ['hooks/payment'] };
  const api = useTestApi({
    imports: [RoutesModule],
    ...(when === 'after' && { prepare: (app) => void app.setGlobalPrefix('api', exclude) }),
    ...(when === 'before' && { beforehand: (app) => void app.setGlobalPrefix('/api', exclude) }),
  });

  it.each(ROOTS)('of RouterModule stand below its paths, below %s', async (root) => {
    expect((await api.get(`/${root}/kitchen/cups/7`)).body.data).toEqual({ id: '7' });
    expectError(await api.get(`/${root}/kitchen/drawer/saucers`), 'UNAUTHORIZED');
    expectError(await api.get(`/${root}/cups/7`), 'NOT_FOUND');
  });

  it('may have several paths, with one access', async () => {
    const admin = api.as(await api.admin());
    for (const path of ['/kettles/hot', '/kettles/cold', '/pots/hot', '/pots/cold']) {
      expectError(await api.get(path), 'UNAUTHORIZED');
      expect((await admin.get(path)).body.data).toEqual({ found: true });
    }
  });

  it('may be patterns', async () => {
    const data = async (path: string) => (await api.get(`/patterns/${path}`)).body.data as object;

    expect(await data('files/a/b/c.txt')).toEqual({ path: 'a,b,c.txt' });
    expect(await data('maybe')).toEqual({ part: null });
    expect(await data('maybe/more')).toEqual({ part: 'more' });
    expect(await data('a-b')).toEqual({ from: 'a', to: 'b' });
  });

  it.each(ROOTS)(
    'have the URL that was sent for guards, interceptors, handlers and filters, below %s',
    async (root) => {
      const path = `${root}/urls/5`;
      for (const method of ['GET', 'POST']) {
        seen.splice(0);
        expect((await api.send(method, `/${path}`)).body.data).toEqual({ id: '5' });
        expect(seen).toEqual(['guard', 'interceptor', 'handler'].map((by) => [by, path, path]));
      }
      expect((await api.get(`/${root}/urls/fail`)).text).toContain(`"path":"${root}/urls/fail"`);
    },
  );

  it.each(ROOTS)('may pass a request on to others, below %s', async (root) => {
    seen.splice(0);
    const path = `${root}/urls/passed`;

    expect((await api.get(`/${path}`)).body.data).toEqual({ id: 'passed' });
    const both = ['guard', 'interceptor', 'passing handler', 'guard', 'interceptor', 'handler'];
    expect(seen).toEqual(both.map((by) => [by, path, path]));
  });

  it('may be for all methods, or for one that is seldom', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await api.send(method, '/patterns/all')).body.data).toEqual({ all: true });
    }
    expect((await api.head('/patterns/head')).status).toBe(200);
    expect((await api.options('/patterns/options')).status).toBe(204);
  });

  it('of a seldom method are named by Allow', async () => {
    const searched = await api.send('SEARCH', '/patterns/search');
    expect([searched.status, searched.body.data]).toEqual([200, { searched: true }]);
    const refused = await api.post('/patterns/search');
    expectError(refused, 'METHOD_NOT_ALLOWED');
    expect(refused.headers.get('allow')).toBe('OPTIONS, SEARCH');
  });

  it('of another host are nothing here', async () => {
    const ask = (host: string) =>
      sendRaw(api.app.port, `GET /api/v1/tenant HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const own = await ask('acme.example.com');
    const other = await ask('example.org');

    expect(JSON.parse(own.text).data).toEqual({ name: 'acme' });
    expect([other.status, JSON.parse(other.text).error.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('may stand outside of the prefix', async () => {
    expect((await api.post('//hooks/payment')).body.data).toEqual({ received: true });
    expectError(await api.get('//hooks/payment'), 'METHOD_NOT_ALLOWED');
    expectError(await api.post('/hooks/payment'), 'NOT_FOUND');
    expect((await api.get('/hooks/other')).body.data).toEqual({ inside: true });
    expect((await api.get('//health/live')).status).toBe(200);
    const { paths } = (await api.get('//docs/json')).body;
    expect(Object.keys(paths as object)).toEqual(expect.arrayContaining(['/hooks/payment', '/api/v1/hooks/other']));
  });
});
