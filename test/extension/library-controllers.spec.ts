import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, type INestApplication, Injectable, Module } from '@nestjs/common';
import { ServeStaticModule } from '@nestjs/serve-static';
import { InjectMetric, makeCounterProvider, PrometheusController, PrometheusModule } from '@willsoto/nestjs-prometheus';
import { Counter, register } from 'prom-client';
import { AppModule } from '../support/application';
import { Public, Role, Roles } from '../../src/platform';
import { declareAccess } from '../../src/platform/features';
import { createApplication } from '../../src/platform/programs';
import { cloneTemplate, type TestApp } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { TestApi, useTestApi } from '../support/test-api';

/** What Prometheus 3 sends. */
const SCRAPE =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,' +
  'text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

@Injectable()
class Meter {
  constructor(@InjectMetric('visits_total') readonly counter: Counter<string>) {}
}

@Controller('metered')
@Public()
class MeteredController {
  constructor(private readonly meter: Meter) {}

  @Get()
  get(): object {
    this.meter.counter.inc();
    return {};
  }
}

@Module({
  imports: [PrometheusModule.register({ defaultMetrics: { enabled: false } })],
  controllers: [MeteredController],
  providers: [Meter, makeCounterProvider({ name: 'visits_total', help: 'Visits' })],
})
class MetricsModule {}

describe('The controller of @willsoto/nestjs-prometheus', () => {
  afterAll(() => register.clear());

  it('stops the start until its access is declared, as it can not be decorated', async () => {
    const start = startApp({ imports: [MetricsModule] }).then((app) => app.stop());

    await expect(start).rejects.toThrow(/GET \/metrics \(PrometheusController\.index\)/);
  });

  describe('once it is declared', () => {
    beforeAll(() => declareAccess(PrometheusController, Roles(Role.ADMIN)));
    const api = useTestApi({
      imports: [MetricsModule],
      prepare: (app) => {
        app.setGlobalPrefix('api', { exclude: ['metrics'] });
      },
    });
    it.each([[SCRAPE], ['text/plain'], ['*/*'], ['application/openmetrics-text; version=1.0.0']])(
      'answers in the format of Prometheus, without the envelope, to Accept: %s',
      async (accept) => {
        await api.get('/metered');
        const admin = await api.admin();
        const { status, headers, text } = await api.as(admin).get('//metrics', { Accept: accept });

        expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
        expect(text).toMatch(/^# TYPE visits_total counter\nvisits_total \d+$/m);
      },
    );

    it('has the access that was declared', async () => {
      expect((await api.get('//metrics')).status).toBe(401);
      expect((await api.as(await api.user()).get('//metrics')).status).toBe(403);
    });
  });

  describe('below the prefix', () => {
    const api = useTestApi({ imports: [MetricsModule] });

    it('answers the same to Prometheus, and 406 to who wants a text and nothing else, as JSON is what routes have', async () => {
      const admin = api.as(await api.admin());
      const { status, headers } = await admin.get('/metrics', { Accept: SCRAPE });

      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
      expect((await admin.get('/metrics', { Accept: 'text/plain' })).status).toBe(406);
    });
  });
});

describe('Files that @nestjs/serve-static serves', () => {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-static-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Home</title>');
  writeFileSync(join(directory, 'assets', 'app.js'), 'export const one = 1;');
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  @Module({
    imports: [
      AppModule,
      ServeStaticModule.forRoot({
        rootPath: directory,
        exclude: ['/api/{*path}'],
        serveStaticOptions: {
          setHeaders: (response) => void response.setHeader('Content-Security-Policy', "default-src 'self'"),
        },
      }),
    ],
  })
  class SiteModule {}

  const environment = { ...process.env };
  const api = new TestApi();
  let app: INestApplication;
  let drop: () => Promise<void>;

  // Not by a testing module: before that has an adapter, the package finds that there is nothing to add files to.
  beforeAll(async () => {
    const database = await cloneTemplate();
    drop = database.drop;
    const settings = { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATA_DIR: process.env.TEST_DIRECTORY };
    Object.assign(process.env, settings, { DATABASE_URL: database.url });
    app = await createApplication(SiteModule);
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    api.app = { port } as TestApp;
  });

  afterAll(async () => {
    await app?.close();
    process.env = environment;
    await drop?.();
  });

  const ask = async (path: string) => {
    const response = await fetch(`${api.url}${path}`);
    const { headers } = response;
    return [
      response.status,
      headers.get('content-type'),
      headers.get('content-security-policy'),
      await response.text(),
    ];
  };

  it('are there, with the page of a single-page application for all other paths', async () => {
    const page = [200, 'text/html; charset=utf-8', "default-src 'self'", '<!doctype html><title>Home</title>'];

    expect(await ask('/')).toEqual(page);
    expect(await ask('/dashboard/settings')).toEqual(page);
    expect((await ask('/assets/app.js')).slice(1)).toEqual([
      'text/javascript; charset=utf-8',
      "default-src 'self'",
      'export const one = 1;',
    ]);
  });

  it('leave the routes of the service what they are', async () => {
    expect((await api.get('/products')).body.data).toEqual([]);
    expect((await api.get('/nowhere')).body.error.code).toBe('NOT_FOUND');
    expect((await api.get('//api/v2/nowhere')).body.error.code).toBe('NOT_FOUND');
    expect((await api.get('//health/ready')).status).toBe(200);
    expect((await api.get('//.well-known/jwks.json')).body.keys).toBeDefined();
    expect((await api.get('//%')).status).toBe(400);
  });
});
