import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  type ArgumentsHost,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Post,
  UseGuards,
} from '@nestjs/common';
import { type BeforeApplicationShutdown, type INestApplication, type OnApplicationShutdown } from '@nestjs/common';
import { type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import type { Request, Response } from 'express';
import { AppModule } from '../../src/app.module';
import { Creates, Public, Role, Settings } from '../../src/platform';
import { configureApp, createApplication, ErrorFilter, JwtAuthGuard, readSettings } from '../../src/platform';
import { ApiAdapter } from '../../src/platform/server/api-adapter';
import { Lifetime } from '../../src/platform/process/lifetime';
import { livingApplication } from '../../src/platform/process/lifetime';
import { ProductsController } from '../../src/resources/products/products.controller';
import { ProductsService } from '../../src/resources/products/products.service';
import { cloneTemplate } from '../support/databases';
import { useTestApi } from '../support/test-api';

const hooks: string[] = [];

@Injectable()
class Kettle
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  boil(): string {
    return 'steam';
  }

  onModuleInit = () => void hooks.push('onModuleInit');
  onApplicationBootstrap = () => void hooks.push('onApplicationBootstrap');
  onModuleDestroy = () => void hooks.push('onModuleDestroy');
  beforeApplicationShutdown = (signal?: string) => void hooks.push(`beforeApplicationShutdown ${signal}`);
  onApplicationShutdown = (signal?: string) => void hooks.push(`onApplicationShutdown ${signal}`);
}

@Injectable()
class KettleGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller('kettles')
@Public()
class KettlesController {
  constructor(private readonly kettle: Kettle) {}

  @Get()
  get(): object {
    return { kettle: this.kettle.boil() };
  }

  @Get('guarded')
  @UseGuards(KettleGuard)
  guarded(): object {
    return { guarded: true };
  }

  @Post()
  @Creates(Object)
  create(): object {
    return { id: 1, kettle: this.kettle.boil() };
  }
}

@Module({ controllers: [KettlesController], providers: [Kettle] })
class KettlesModule {}

const databases: (() => Promise<void>)[] = [];

const environmentOf = (url: string) => ({
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  DATABASE_URL: url,
  DATA_DIR: process.env.TEST_DIRECTORY,
});

/** As the documentation has it, but for the settings, which a team has in its environment. */
async function testingModule(imports: unknown[] = []): Promise<TestingModuleBuilder> {
  const database = await cloneTemplate();
  databases.push(database.drop);
  const settings = environmentOf(database.url);
  return Test.createTestingModule({ imports: [AppModule, KettlesModule, ...(imports as never[])] })
    .setLogger(false as never)
    .overrideProvider(Settings)
    .useValue(readSettings(settings));
}

afterAll(() => Promise.all(databases.map((drop) => drop())));

/** What supertest does with what it is given. */
async function ask(app: INestApplication, path: string, init?: RequestInit) {
  const server = app.getHttpServer() as Server;
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, body: (await response.json()) as { data?: object; error?: { code: string } } };
}

describe('enableShutdownHooks() of the application of main.ts', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('has its hooks called once, with the signal: %s', async (signal) => {
    const before = new Map(process.eventNames().map((event) => [event, process.rawListeners(event as 'exit')]));
    const exited = new Promise((resolve) => {
      jest.spyOn(process, 'exit').mockImplementation(resolve as never);
    });
    const app = await createApplication(await (await testingModule()).compile());
    const lifetime = new Lifetime();
    lifetime.created(livingApplication(app, () => false));
    app.enableShutdownHooks();
    const ofQuit = process.listenerCount('SIGQUIT') - (before.get('SIGQUIT')?.length ?? 0);
    await app.init();
    hooks.splice(0);

    process.emit(signal, signal);
    const code = await exited;
    jest.restoreAllMocks();
    for (const event of process.eventNames() as 'exit'[]) {
      for (const listener of process.rawListeners(event)) {
        if (!before.get(event)?.includes(listener)) process.removeListener(event, listener as () => void);
      }
    }

    expect([code, ofQuit]).toEqual([0, 1]);
    expect(hooks).toEqual([
      'onModuleDestroy',
      `beforeApplicationShutdown ${signal}`,
      `onApplicationShutdown ${signal}`,
    ]);
  });
});

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

describe('NestFactory', () => {
  const environment = { ...process.env };
  beforeAll(async () => {
    const database = await cloneTemplate();
    databases.push(database.drop);
    Object.assign(process.env, environmentOf(database.url));
  });
  afterAll(() => void (process.env = environment));

  it('makes a context of providers without a server', async () => {
    const context = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });

    expect(context.get(ProductsService, { strict: false })).toBeInstanceOf(ProductsService);
    await context.close();
  });

  it('refuses to serve by its own adapter, and says what to write', async () => {
    const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });

    await expect(app.init()).rejects.toThrow(/createApplication\(AppModule\)/);
    await app.close();
  });
});

describe('An application', () => {
  const api = useTestApi({ imports: [KettlesModule], prepare: () => void hooks.splice(0) });

  it('calls the hooks of its life in their order, once', async () => {
    expect(hooks).toEqual(['onModuleInit', 'onApplicationBootstrap']);
    await api.app.nest.init();
    expect(hooks).toHaveLength(2);
    hooks.splice(0);
    await api.app.nest.close();

    expect(hooks).toEqual([
      'onModuleDestroy',
      'beforeApplicationShutdown undefined',
      'onApplicationShutdown undefined',
    ]);
  });
});
