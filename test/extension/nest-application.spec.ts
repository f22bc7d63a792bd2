import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Module, Render } from '@nestjs/common';
import { MessagePattern, Transport, type ClientProxy, ClientProxyFactory } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { firstValueFrom } from 'rxjs';
import { Produces, Public } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { freePort } from '../support/free-port';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

@Controller('pages')
@Public()
class PagesController {
  @Get()
  @Produces('text/html')
  @Render('page.shout')
  page(): object {
    return { name: 'Ada' };
  }
}

@Controller()
@Public()
class MessagesController {
  @MessagePattern('sum')
  sum(numbers: number[]): number {
    return numbers.reduce((one, other) => one + other, 0);
  }
}

@Module({ controllers: [PagesController, MessagesController] })
class PagesModule {}

describe('NestExpressApplication', () => {
  let directory: string;
  const api = useTestApi({
    imports: [PagesModule],
    prepare: async (app) => {
      directory = await mkdtemp(join(tmpdir(), 'pages-'));
      await writeFile(join(directory, 'page.shout'), 'Hello NAME');
      await writeFile(join(directory, 'style.css'), 'p { color: red }');
      const express: NestExpressApplication = app as never;
      express.useStaticAssets(directory, { prefix: '/assets/' });
      express.setBaseViewsDir(directory);
      express.setViewEngine('shout');
      const read = (path: string, { name }: { name: string }, done: (error: unknown, text?: string) => void) =>
        done(null, `${path.endsWith('page.shout')} ${name}`);
      express.engine('shout', read);
      express.set('json spaces', 2).disable('x-powered-by');
    },
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('renders views', async () => {
    const { status, headers, text } = await api.get('/pages');

    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/html; charset=utf-8', 'true Ada']);
  });

  it('serves files, below their prefix alone', async () => {
    expect((await api.get('//assets/style.css')).text).toBe('p { color: red }');
    expectError(await api.get('//assets/none.css'), 'NOT_FOUND');
    expectError(await api.get('//style.css'), 'NOT_FOUND');
  });

  it('has no header of Express', async () => {
    expect((await api.get('//health/live')).headers.get('x-powered-by')).toBeNull();
  });

  it('tells its address', async () => {
    expect(await api.app.nest.getUrl()).toBe(`http://127.0.0.1:${api.app.port}`);
    expect(((api.app.nest.getHttpServer() as Server).address() as AddressInfo).port).toBe(api.app.port);
  });
});

describe('A setting of Express that the service depends on', () => {
  const settings: [string, unknown, RegExp][] = [
    ['trust proxy', true, /TRUST_PROXY/],
    ['query parser', 'extended', /pipe of its own/],
    ['case sensitive routing', true, /leave it out/],
    ['strict routing', true, /leave it out/],
  ];

  it.each(settings)('stops the start, with what to do instead: %s', async (name, value, wayOut) => {
    const set = (app: unknown) => void (app as NestExpressApplication).set(name, value);

    await expect(startApp({ prepare: set })).rejects.toThrow(wayOut);
    await expect(startApp({ beforehand: set })).rejects.toThrow(`"${name}"`);
    await expect(startApp({ prepare: (app) => void (app as NestExpressApplication).enable(name) })).rejects.toThrow(
      wayOut,
    );
  });
});

describe('An extension of app.request', () => {
  const added = (name: string, descriptor: PropertyDescriptor) => (app: unknown) => {
    const { request } = (app as NestExpressApplication).getHttpAdapter().getInstance();
    Object.defineProperty(request, name, descriptor);
  };

  it.each([
    ['fields', { value: ['name'] }],
    ['work', { get: () => 1 }],
  ])('by a name that each request has of its own stops the start: %s', async (name, descriptor) => {
    await expect(startApp({ prepare: added(name, descriptor) })).rejects.toThrow(`give them other names: ${name}`);
  });

  it('by another name is seen by handlers, also by that of the caller', async () => {
    const descriptor = { get: () => 'SHOUTED', set: () => undefined, configurable: true };
    const app = await startApp({
      prepare: (nest) => {
        for (const name of ['shouted', 'user']) added(name, descriptor)(nest);
        const express = (nest as NestExpressApplication).getHttpAdapter().getInstance();
        express.get('/shouted', (request, response) => {
          response.json([(request as Request & { shouted: string }).shouted, request.user]);
        });
      },
    });
    try {
      const answer = await fetch(`http://127.0.0.1:${app.port}/shouted`);
      expect(await answer.json()).toEqual(['SHOUTED', 'SHOUTED']);
    } finally {
      await app.stop();
    }
  });
});

describe('A hybrid application', () => {
  let port: number;
  let client: ClientProxy;
  const api = useTestApi({
    imports: [PagesModule],
    prepare: async (app) => {
      port = await freePort();
      app.connectMicroservice(
        { transport: Transport.TCP, options: { host: '127.0.0.1', port } },
        { inheritAppConfig: true },
      );
      await app.startAllMicroservices();
    },
  });
  beforeAll(() => {
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  });
  afterAll(() => client.close());

  it('answers messages and requests', async () => {
    expect(await firstValueFrom(client.send('sum', [1, 2, 3]))).toBe(6);
    expect((await api.get('//health/live')).status).toBe(200);
  });
});

describe('app.enableShutdownHooks()', () => {
  it('closes the application on its signal', async () => {
    const app = await startApp();
    app.nest.enableShutdownHooks(['SIGUSR2']);
    const closed = new Promise((resolve) => (app.nest.getHttpServer() as Server).once('close', resolve));
    const kill = jest.spyOn(process, 'kill').mockImplementation(() => true);
    process.emit('SIGUSR2', 'SIGUSR2');
    await closed;
    kill.mockRestore();

    expect((app.nest.getHttpServer() as Server).listening).toBe(false);
    await app.stop();
  });
});
