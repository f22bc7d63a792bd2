import { NestFactory } from '@nestjs/core';
import { AppModule } from '../support/application';
import { createApplication } from '../../src/platform/programs';
import { GRACE, Lifetime } from '../../src/platform/process/lifetime';
import { closableApplication } from '../../src/platform/process/lifetime';
import { cloneTemplate } from '../../src/platform/testing';
import { ProductsService } from '../../src/resources/products/products.service';
import { useTestApi } from '../support/test-api';
import { KettlesModule, databases, environmentOf, hooks, testingModule } from '../support/modules/kettles';

afterAll(() => Promise.all(databases.map((drop) => drop())));

describe('enableShutdownHooks() of the application of main.ts', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('has its hooks called once, with the signal: %s', async (signal) => {
    const before = new Map(process.eventNames().map((event) => [event, process.rawListeners(event as 'exit')]));
    const exited = new Promise((resolve) => {
      jest.spyOn(process, 'exit').mockImplementation(resolve as never);
    });
    const app = await createApplication(await (await testingModule()).compile());
    const lifetime = new Lifetime();
    lifetime.created(
      closableApplication(app, () => false),
      1_000,
    );
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

describe('A process whose end waits for something that never comes', () => {
  it('ends all the same, as a failure', async () => {
    const exited = new Promise((resolve) => {
      jest.spyOn(process, 'exit').mockImplementation(resolve as never);
    });
    const lifetime = new Lifetime();
    const living = { close: () => new Promise<void>(() => undefined), reload: () => false };
    lifetime.created(living, 1_000 - GRACE);
    lifetime.stop();

    expect(await exited).toBe(1);
    jest.restoreAllMocks();
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
