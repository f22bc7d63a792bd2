import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Post,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import type { INestApplication, Type, VersioningOptions } from '@nestjs/common';
import { Public, Role, Roles } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

@Controller('cats')
@Public()
class CatsController {
  @Version('1')
  @Get()
  first(): object {
    return { cats: 'of version 1' };
  }

  @Version('2')
  @Get()
  second(): object {
    return { cats: 'of version 2' };
  }

  @Version(['1', '2'])
  @Get('both')
  both(): object {
    return { cats: 'of both' };
  }

  @Version('2')
  @Post()
  @HttpCode(200)
  create(): object {
    return { created: true };
  }

  @Get('unsaid')
  unsaid(): object {
    return { cats: 'of all' };
  }
}

@Controller({ path: 'dogs', version: '2' })
@Roles(Role.ADMIN)
class DogsController {
  @Get()
  list(): object {
    return { dogs: 'of version 2' };
  }

  @Version('1')
  @Delete()
  @Public()
  @HttpCode(200)
  remove(): object {
    return { removed: true };
  }
}

@Controller({ path: 'birds', version: VERSION_NEUTRAL })
@Public()
class BirdsController {
  @Get()
  list(): object {
    return { birds: 'of any version' };
  }
}

@Controller({ path: 'fish', version: ['2', VERSION_NEUTRAL] })
@Public()
class FishController {
  @Get()
  list(): object {
    return { fish: 'of any version' };
  }
}

@Controller({ path: 'owls', version: '1' })
@Public()
class OwlsController {
  @Get(':id')
  get(): object {
    return { owl: 'of version 1' };
  }
}

@Controller({ path: 'owls', version: '2' })
@Public()
class NewOwlsController {
  @Get(':id')
  get(): object {
    return { owl: 'of version 2' };
  }
}

@Module({
  controllers: [CatsController, DogsController, BirdsController, FishController, OwlsController, NewOwlsController],
})
class VersionedModule {}

const vendor = (version: number) => ({ Accept: `application/vnd.api+json;version=${version}` });

describe('@Version()', () => {
  const api = useTestApi({ imports: [VersionedModule] });
  const data = async (path: string, headers?: Record<string, string>) => (await api.get(path, headers)).body.data;

  it('chooses the handler by the path, by Accept, and version 1 without either', async () => {
    expect(await data('//api/v1/cats')).toEqual({ cats: 'of version 1' });
    expect(await data('//api/v2/cats')).toEqual({ cats: 'of version 2' });
    expect(await data('//api/cats')).toEqual({ cats: 'of version 1' });
    expect(await data('//api/cats', vendor(1))).toEqual({ cats: 'of version 1' });
    expect(await data('//api/cats', vendor(2))).toEqual({ cats: 'of version 2' });
  });

  it('chooses between two controllers with the same path', async () => {
    expect(await data('//api/v1/owls/7')).toEqual({ owl: 'of version 1' });
    expect(await data('//api/v2/owls/7')).toEqual({ owl: 'of version 2' });
  });

  it.each(['cats/both', 'cats/unsaid', 'birds', 'fish'])('may name several, all or none: %s', async (path) => {
    for (const root of ['/v1', '/v2', '']) expect((await api.get(`//api${root}/${path}`)).status).toBe(200);
    expect((await api.get(`//api/${path}`, vendor(2))).status).toBe(200);
  });

  it('is 405 in the version that has other methods only', async () => {
    expectError(await api.post('//api/v1/dogs'), 'METHOD_NOT_ALLOWED');
    expectError(await api.get('//api/v1/dogs'), 'METHOD_NOT_ALLOWED');
    expectError(await api.delete('//api/v2/dogs'), 'METHOD_NOT_ALLOWED');
    expectError(await api.post('//api/v1/cats'), 'METHOD_NOT_ALLOWED');
    expect((await api.post('//api/v2/cats')).status).toBe(200);
  });

  it('is what Allow goes by', async () => {
    const allow = async (path: string) => (await api.options(path)).headers.get('allow');

    expect(await allow('//api/v1/cats')).toBe('GET, HEAD, OPTIONS');
    expect(await allow('//api/v2/cats')).toBe('GET, HEAD, POST, OPTIONS');
    expect(await allow('//api/v1/dogs')).toBe('DELETE, OPTIONS');
    expect(await allow('//api/v2/dogs')).toBe('GET, HEAD, OPTIONS');
  });

  it('keeps the access of each handler', async () => {
    expectError(await api.get('//api/v2/dogs'), 'UNAUTHORIZED');
    expectError(await api.as(await api.user()).get('//api/v2/dogs'), 'FORBIDDEN');
    expect((await api.as(await api.admin()).get('//api/v2/dogs')).body.data).toEqual({ dogs: 'of version 2' });
    expect((await api.delete('//api/v1/dogs')).status).toBe(200);
  });

  it('is told by the documents, each of which has the routes of its version', async () => {
    const methods = async (document: string) => {
      const { paths } = (await api.get(document)).body as { paths: Record<string, object> };
      const own = Object.entries(paths).filter(([path]) => /cats|dogs|birds|fish|owls|health/.test(path));
      return Object.fromEntries(own.map(([path, item]) => [path, Object.keys(item)]));
    };
    const common = (version: number) => ({
      [`/api/v${version}/cats/both`]: ['get'],
      [`/api/v${version}/cats/unsaid`]: ['get'],
      [`/api/v${version}/birds`]: ['get'],
      [`/api/v${version}/fish`]: ['get'],
      [`/api/v${version}/owls/{id}`]: ['get'],
      '/health/live': ['get'],
      '/health/ready': ['get'],
    });

    expect(await methods('//docs/json')).toEqual({
      ...common(1),
      '/api/v1/cats': ['get'],
      '/api/v1/dogs': ['delete'],
    });
    expect(await methods('//docs/v2/json')).toEqual({
      ...common(2),
      '/api/v2/cats': ['get', 'post'],
      '/api/v2/dogs': ['get'],
    });
  });
});

describe('A route in one version only', () => {
  @Controller({ path: 'news', version: '2' })
  @Public()
  class NewsController {
    @Get()
    list(): object {
      return { news: true };
    }
  }
  @Module({ controllers: [NewsController] })
  class NewsModule {}
  const api = useTestApi({ imports: [NewsModule] });

  it('is nothing in the other: 404, by any method', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
      expect((await api.send(method, '//api/v1/news')).status).toBe(404);
      expect((await api.send(method, '//api/news')).status).toBe(404);
    }
    expect((await api.get('//api/news', vendor(2))).body.data).toEqual({ news: true });
    expect((await api.options('//api/v2/news')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('The start', () => {
  const start = (prepare: (app: INestApplication) => void, imports: Type[] = []) => startApp({ prepare, imports });

  async function starts(prepare: (app: INestApplication) => void, imports: Type[] = []): Promise<void> {
    const app = await start(prepare, imports);
    await app.stop();
  }

  const others: [string, VersioningOptions][] = [
    ['a header', { type: VersioningType.HEADER, header: 'X-Version' }],
    ['a media type', { type: VersioningType.MEDIA_TYPE, key: 'v=' }],
    ['what a function finds', { type: VersioningType.CUSTOM, extractor: () => '1' }],
    ['another prefix', { type: VersioningType.URI, prefix: 'version-' }],
    ['another default', { type: VersioningType.URI, defaultVersion: '1' }],
  ];

  it.each(others)('is refused when versions are to be named by %s', async (_name, options) => {
    await expect(start((app) => app.enableVersioning(options))).rejects.toThrow(
      /app\.enableVersioning\(\) is called already.+@Version\(\)/s,
    );
  });

  it('takes what changes nothing', async () => {
    await starts((app) => app.enableVersioning().enableVersioning({ type: VersioningType.URI }));
  });

  it('is refused with a version that there is not', async () => {
    @Controller({ path: 'late', version: '3' })
    @Public()
    class LateController {
      @Version('beta')
      @Get()
      get(): void {}
    }
    @Module({ controllers: [LateController] })
    class LateModule {}

    await expect(start(() => undefined, [LateModule])).rejects.toThrow(
      /there are 1 and 2.+LateController: "3"\n.+LateController\.get: "beta"/s,
    );
  });

  it('is refused with a version of what is outside of the API', async () => {
    @Controller('outside')
    @Public()
    class OutsideController {
      @Version('2')
      @Get()
      get(): void {}
    }
    @Module({ controllers: [OutsideController] })
    class OutsideModule {}

    await expect(start((app) => app.setGlobalPrefix('api', { exclude: ['outside'] }), [OutsideModule])).rejects.toThrow(
      /outside of \/api.+- \/outside/s,
    );
  });

  it('is refused with another prefix', async () => {
    await expect(start((app) => app.setGlobalPrefix('rest'))).rejects.toThrow(
      /The prefix can't be "rest".+API_PREFIX in src\/platform\/routing\/version\.ts/s,
    );
  });
});
