import {
  Controller,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestMiddleware,
  type NestModule,
  Post,
} from '@nestjs/common';
import { HttpCode, RequestMethod, Version } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Public } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const note = (response: Response, text: string) => response.appendHeader('X-Seen', text);
const noting =
  (name: string): RequestHandler =>
  (_request, response, next) => {
    note(response, name);
    next();
  };
const urls: RequestHandler = ({ originalUrl, baseUrl, url, path, method }, response, next) => {
  note(response, JSON.stringify({ originalUrl, baseUrl, url, path, method }));
  next();
};

@Injectable()
class ClassMiddleware implements NestMiddleware {
  use(_request: Request, response: Response, next: NextFunction): void {
    note(response, 'class');
    next();
  }
}

async function asynchronous(_request: Request, response: Response, next: NextFunction): Promise<void> {
  await Promise.resolve();
  note(response, 'async');
  next();
}

@Controller('mw')
@Public()
class MiddlewareController {
  @Get()
  list(): object {
    return {};
  }

  @Post()
  @HttpCode(200)
  create(): object {
    return {};
  }

  @Get('skip')
  skip(): object {
    return {};
  }

  @Get('skip-second')
  skipSecond(): object {
    return {};
  }

  @Get('failing')
  failing(): object {
    return {};
  }

  @Get('deep/er')
  deep(): object {
    return {};
  }
}

@Controller({ path: 'of-version', version: '2' })
@Public()
class NewController {
  @Get()
  get(): object {
    return {};
  }
}

@Controller({ path: 'of-version', version: '1' })
@Public()
class OldController {
  @Get()
  get(): object {
    return {};
  }
}

@Controller('urls')
@Public()
class UrlsController {
  @Get('{*rest}')
  get(): object {
    return {};
  }
}

@Controller('of-route')
@Public()
class RouteController {
  @Get()
  get(): object {
    return {};
  }

  @Version('2')
  @Get('second')
  second(): object {
    return {};
  }
}

@Module({
  controllers: [MiddlewareController, NewController, OldController, UrlsController, RouteController],
})
class MiddlewareModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(ClassMiddleware, asynchronous)
      .exclude('mw/skip', { path: 'mw/skip-second', method: RequestMethod.GET, version: '2' })
      .forRoutes(MiddlewareController);
    consumer.apply(noting('posts')).forRoutes({ path: 'mw', method: RequestMethod.POST });
    consumer.apply(noting('wildcard')).forRoutes('mw/*splat');
    consumer.apply(noting('new')).forRoutes(NewController);
    consumer.apply(noting('second')).forRoutes({ path: 'of-route', method: RequestMethod.GET, version: '2' });
    consumer.apply(urls).forRoutes('urls');
    consumer.apply(noting('nowhere')).forRoutes({ path: 'nowhere', method: RequestMethod.GET });
    consumer
      .apply(() => {
        throw new Error('A secret of the middleware');
      })
      .forRoutes('mw/failing');
  }
}

const ROOTS = ['/api', '/api/v1', '/api/v2'];
const SECOND = { Accept: 'application/vnd.api+json;version=2' };

describe('Middleware of a module', () => {
  const api = useTestApi({ imports: [MiddlewareModule] });
  const seen = async (path: string, headers?: Record<string, string>) =>
    (await api.get(`/${path}`, headers)).headers.get('x-seen');

  it.each(ROOTS)('is called below %s, as class, function and promise', async (root) => {
    expect(await seen(`${root}/mw`)).toBe('class, async');
    expect(await seen(`${root}/mw/deep/er`)).toBe('class, async, wildcard');
    expect((await api.post(`/${root}/mw`)).headers.get('x-seen')).toBe('class, async, posts');
  });

  it.each(ROOTS)('leaves out below %s what exclude() names', async (root) => {
    expect(await seen(`${root}/mw/skip`)).toBe('wildcard');
    expect(await seen(`${root}/mw/skip/`)).toBe('wildcard');
  });

  it('leaves out what exclude() names by version there alone', async () => {
    expect(await seen('/api/v2/mw/skip-second')).toBe('wildcard');
    expect(await seen('/api/mw/skip-second', SECOND)).toBe('wildcard');
    expect(await seen('/api/v1/mw/skip-second')).toBe('class, async, wildcard');
    expect(await seen('/api/mw/skip-second')).toBe('class, async, wildcard');
  });

  it('is called for the version of its controller or route alone, however that is asked for', async () => {
    expect(await seen('/api/v2/of-version')).toBe('new');
    expect(await seen('/api/of-version', SECOND)).toBe('new');
    expect(await seen('/api/v1/of-version')).toBeNull();
    expect(await seen('/api/of-version')).toBeNull();
    expect(await seen('/api/v2/of-route')).toBe('second');
    expect(await seen('/api/of-route', SECOND)).toBe('second');
    expect(await seen('/api/v1/of-route')).toBeNull();
  });

  it.each(ROOTS)('sees the path that the client sent below %s', async (root) => {
    const got = JSON.parse((await seen(`${root}/urls/a/b?c=1`)) ?? '{}') as object;

    expect(got).toEqual({
      originalUrl: `${root}/urls/a/b?c=1`,
      baseUrl: `${root}/urls`,
      url: '/a/b?c=1',
      path: '/a/b',
      method: 'GET',
    });
  });

  it('answers by the error envelope when it throws', async () => {
    const answer = await api.get('/mw/failing');

    expectError(answer, 'INTERNAL_ERROR', { secret: 'A secret' });
  });

  it('makes no route of its path', async () => {
    expectError(await api.get('/nowhere'), 'NOT_FOUND');
    expectError(await api.delete('/nowhere'), 'NOT_FOUND');
  });
});
