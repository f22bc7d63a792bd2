import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ArgumentsHost, type ExecutionContext } from '@nestjs/common';
import { type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Request, Response } from 'express';
import { AppModule } from '../support/application';
import { Role } from '../../src/platform';
import { ApiAdapter, configureApp, createApplication, ErrorFilter, JwtAuthGuard } from '../../src/platform/testing';
import { AppClient, expectError, expectSuccess, query, TestApp } from '../../src/platform/testing';
import { ProductsController } from '../../src/resources/products/products.controller';
import { ProductsService } from '../../src/resources/products/products.service';
import {
  Kettle,
  KettleGuard,
  KettlesController,
  KettlesModule,
  databases,
  testingModule,
} from '../support/modules/kettles';

afterAll(() => Promise.all(databases.map((drop) => drop())));

/** What supertest does with what it is given. */
async function ask(app: INestApplication, path: string, init?: RequestInit) {
  const server = app.getHttpServer() as Server;
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, body: (await response.json()) as { data?: object; error?: { code: string } } };
}

describe('An application of a testing module', () => {
  let app: INestApplication;
  afterEach(() => app?.close());

  it('is the whole service with overridden providers and guards', async () => {
    const module = await (
      await testingModule()
    )
      .overrideProvider(Kettle)
      .useValue({ boil: () => 'a fake' })
      .overrideGuard(KettleGuard)
      .useValue({ canActivate: () => true })
      .compile();
    app = await createApplication(module);
    await app.init();

    expect((await ask(app, '/api/v1/kettles')).body).toMatchObject({ code: 200, data: { kettle: 'a fake' } });
    expect((await ask(app, '/api/v1/kettles/guarded')).body.data).toEqual({ guarded: true });
    expect((await ask(app, '/api/v2/nowhere')).body.error?.code).toBe('NOT_FOUND');
    const created = await ask(app, '/api/v1/kettles', { method: 'POST', headers: { 'Idempotency-Key': 'one' } });
    expect([created.status, created.body.data]).toEqual([201, { id: 1, kettle: 'a fake' }]);
  });

  it('has overridden what is registered for all routes', async () => {
    const caller = { id: 7, username: 'fake', roles: [Role.USER, Role.ADMIN] };
    const filter = {
      catch: (_error: unknown, host: ArgumentsHost) =>
        void host
          .switchToHttp()
          .getResponse<Response>()
          .status(418)
          .json({ error: { code: 'FAKE' } }),
    };
    const module = await (
      await testingModule()
    )
      .overrideProvider(JwtAuthGuard)
      .useValue({
        canActivate: (context: ExecutionContext) => {
          context.switchToHttp().getRequest<Request>().user = caller as never;
          return true;
        },
      })
      .overrideProvider(ErrorFilter)
      .useValue(filter)
      .compile();
    app = await createApplication(module);
    await app.init();

    expect((await ask(app, '/api/v1/orders')).body.data).toEqual([]);
    expect(await ask(app, '/api/v1/orders/999')).toEqual({ status: 418, body: { error: { code: 'FAKE' } } });
  });

  it('works with the adapter alone, as createNestApplication() has it, and Nest’s body parser', async () => {
    const module = await (await testingModule()).compile();
    app = module.createNestApplication(new ApiAdapter());
    configureApp(app);
    await app.init();
    const signIn = (body: string) =>
      ask(app, '/api/v1/auth/tokens', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });

    expect((await signIn('{"username":"nobody","password":"nothing at all"}')).body.error?.code).toBe('UNAUTHORIZED');
    expect((await signIn('{')).body.error?.code).toBe('VALIDATION_ERROR');
  });

  it('is refused with Nest’s own adapter, and told what to write', async () => {
    const module = await (await testingModule()).compile();
    app = module.createNestApplication();

    expect(() => configureApp(app)).toThrow(/Nest's own HTTP adapter.+createApplication\(AppModule\)/s);
    await expect(app.init()).rejects.toThrow(/Nest's own HTTP adapter.+createApplication\(AppModule\)/s);
  });

  it('is refused without its configuration, and told what to write', async () => {
    const module = await (await testingModule()).compile();
    app = module.createNestApplication(new ApiAdapter());

    await expect(app.init()).rejects.toThrow(/never configured.+configureApp\(app\) before app\.init\(\)/s);
  });

  it('is refused a second configuration', async () => {
    const module = await (await testingModule()).compile();
    app = await createApplication(module);

    expect(() => configureApp(app)).toThrow(/configured already/);
  });

  it('is refused without the modules of the service', async () => {
    const module = await Test.createTestingModule({ imports: [KettlesModule] }).compile();

    await expect(createApplication(module)).rejects.toThrow(/modules of the service.+imports: \[AppModule\]/s);
  });
});

describe('An application of the test support', () => {
  let app: TestApp;
  afterEach(() => app?.stop());

  it('is the service of a module with overridden providers, on a database and a port of its own', async () => {
    app = await TestApp.start(AppModule, {
      imports: [KettlesModule],
      override: (builder) => builder.overrideProvider(Kettle).useValue({ boil: () => 'a fake' }),
      settings: { API_DOCS: 'false' },
    });
    const api = new AppClient();
    api.app = app;

    expect(expectSuccess(await api.get('/kettles'))).toEqual({ kettle: 'a fake' });
    expectError(await api.get('//docs/json'), 'NOT_FOUND');
    expect(await query(app.databaseUrl, 'SELECT id FROM users')).toEqual([]);
    expect(app.log).toContainEqual(expect.objectContaining({ msg: 'request', status: 404 }));
  });

  it('leaves no database behind when it does not start', async () => {
    const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
    const ours = `${TEST_DATABASE_PREFIX}%_${process.pid}_%`;
    const names = () => query(TEST_SERVER_URL!, 'SELECT datname FROM pg_database WHERE datname LIKE $1', [ours]);
    const before = await names();

    await expect(TestApp.start(KettlesModule)).rejects.toThrow(/modules of the service/);
    expect(await names()).toEqual(before);
  });
});

describe('A controller alone in a testing module', () => {
  const products = { get: () => Promise.resolve({ id: 7, name: 'Cup' }) };

  it('is made with fakes for what it is given', async () => {
    const module = await Test.createTestingModule({
      controllers: [ProductsController, KettlesController],
      providers: [
        { provide: ProductsService, useValue: products },
        { provide: Kettle, useValue: { boil: () => 'a fake' } },
      ],
    }).compile();

    expect(module.get(ProductsController)).toBeInstanceOf(ProductsController);
    expect(module.get(KettlesController).create()).toEqual({ id: 1, kettle: 'a fake' });
  });

  it('is made with mocks of everything by useMocker()', async () => {
    const module = await Test.createTestingModule({ controllers: [KettlesController] })
      .useMocker((token) => (token === Kettle ? { boil: () => 'a mock' } : undefined))
      .compile();

    expect(module.get(KettlesController).get()).toEqual({ kettle: 'a mock' });
  });
});

describe('Instances of TestApp on one database', () => {
  it('end before the first one drops it, however often each is stopped', async () => {
    const first = await TestApp.start(AppModule);
    const second = await TestApp.start(AppModule, { databaseUrl: first.databaseUrl });
    const alive = () => fetch(`http://127.0.0.1:${second.port}/health/live`);
    expect((await alive()).status).toBe(200);

    await first.stop();

    await expect(alive()).rejects.toThrow('fetch failed');
    await expect(query(first.databaseUrl, 'SELECT 1')).rejects.toThrow('does not exist');
    await second.stop();
    await first.stop();
  });
});
