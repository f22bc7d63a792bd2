import type { AddressInfo, Server } from 'node:net';
import { Controller, Cookies, Get, type INestApplication, Module, Res, SignedCookies } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Response } from 'express';
import { Public } from '../../src/platform';
import { createApplication, type NestOptions } from '../../src/platform/programs';
import { databases, testingModule } from '../support/modules/kettles';

@Controller('baskets')
@Public()
class BasketsController {
  constructor(private readonly host: HttpAdapterHost) {}

  @Get()
  read(@Cookies('size') size?: string, @SignedCookies('owner') owner?: string): object {
    return { size, owner };
  }

  @Get('set')
  set(@Res({ passthrough: true }) response: Response): object {
    this.host.httpAdapter.setCookie(response, 'size', 'large');
    this.host.httpAdapter.setCookie(response, 'owner', 'Ada', { signed: true });
    return {};
  }
}

@Module({ controllers: [BasketsController] })
class BasketsModule {}

@Controller('baskets')
@Public()
class OtherBasketsController {
  @Get('set')
  set(): object {
    return {};
  }
}

@Module({ controllers: [OtherBasketsController] })
class OtherBasketsModule {}

describe('Options of NestFactory.create(), as `nest` of run() and createApplication()', () => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());
  afterAll(() => Promise.all(databases.map((drop) => drop())));

  const modules = async (...imports: object[]) => (await testingModule(imports)).compile();
  const ask = async (path: string, cookie = '') => {
    const { port } = (app!.getHttpServer() as Server).address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      headers: { Cookie: cookie, Connection: 'close' },
    });
    const { data } = (await response.json()) as { data?: object };
    return { status: response.status, data, set: response.headers.getSetCookie().map((one) => one.split(';')[0]) };
  };

  it('sign cookies: cookies.secret, setCookie(), @Cookies(), @SignedCookies()', async () => {
    const nest: NestOptions = {
      cookies: { secret: 'a secret of a test' },
      routeConflictPolicy: { duplicate: 'error' },
    };
    app = await createApplication(await modules(BasketsModule), { nest });
    await app.listen(0, '127.0.0.1');

    const [size, owner] = (await ask('/baskets/set')).set;
    expect(size).toBe('size=large');
    expect((await ask('/baskets', `${size}; ${owner}`)).data).toEqual({ size: 'large', owner: 'Ada' });
    expect((await ask('/baskets', `${size}; ${owner}x`)).data).toEqual({ size: 'large' });
  });

  it('are needed to read signed cookies', async () => {
    app = await createApplication(await modules(BasketsModule));

    await expect(app.init()).rejects.toThrow(/there is no secret.+cookies: \{ secret \}.+BasketsController\.read/s);
  });

  it('refuse routes that are declared twice: routeConflictPolicy', async () => {
    const twice = await modules(BasketsModule, OtherBasketsModule);
    app = await createApplication(twice, { nest: { routeConflictPolicy: { duplicate: 'error' } } });

    await expect(app.init()).rejects.toThrow(/GET .*baskets\/set/);
  });
});
