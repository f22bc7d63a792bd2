import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import type { INestApplication, ModuleMetadata, NestApplicationOptions, Type } from '@nestjs/common';
import { Logger } from 'nestjs-pino';
import { __resetOutOfContextForTests as forgetLogger } from 'nestjs-pino/PinoLogger';
import pino from 'pino';
import { readSettings } from '../config/read-settings';
import { Settings } from '../config/settings';
import { describeError } from '../logging/logging';
import { PINO } from '../logging/logging.module';
import { tellsRequest } from '../logging/request-fields';
import { configureApp } from '../process/configure-app';
import { createApplication } from '../process/create-application';
import { ApiAdapter } from '../server/api-adapter';
import { cloneTemplate, testRun } from './test-run';

export interface TestAppOptions {
  /** Environment variables besides those that every test app has. Default: none */
  settings?: Record<string, string>;
  /** Modules besides the application's own. Default: none */
  imports?: ModuleMetadata['imports'];
  /** Replaces providers: `(builder) => builder.overrideProvider(Mailer).useValue(fake)`. Default: none */
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** Changes the application before it is configured. createApplication() isn't used then. Default: nothing */
  beforehand?: (app: INestApplication) => void;
  /** Changes the application before it listens, like a team in main.ts. Default: nothing */
  prepare?: (app: INestApplication) => void | Promise<void>;
  /** Options of `createNestApplication()`. createApplication() isn't used then. Default: none */
  options?: NestApplicationOptions;
  /** The database of another instance. Default: a new clone of the template */
  databaseUrl?: string;
}

type LogLines = Record<string, unknown>[];

/** The real application with a real database and a real port. */
export class TestApp {
  /** The instance that has made a database, by the database's URL. */
  private static readonly first = new Map<string, TestApp>();
  /** Further instances on its database. */
  private readonly others: TestApp[] = [];
  private stopped?: Promise<void>;

  private constructor(
    readonly nest: INestApplication,
    readonly databaseUrl: string,
    readonly port: number,
    /** Every parsed log line of the application. */
    readonly log: LogLines,
    private readonly drop: () => Promise<void>,
  ) {}

  /** @param module the module of main.ts */
  static async start(module: Type, { databaseUrl, ...options }: TestAppOptions = {}): Promise<TestApp> {
    const database = databaseUrl ? { url: databaseUrl, drop: () => Promise.resolve() } : await cloneTemplate();
    const log: LogLines = [];
    const byHand = options.beforehand !== undefined || options.options !== undefined;
    // With several applications in one process, the first one's log would get all lines of Nest's loggers.
    forgetLogger();
    let app: INestApplication | undefined;
    try {
      const compiled = await compile(module, settingsOf(database.url, options), log, options);
      app = byHand
        ? compiled.createNestApplication(new ApiAdapter(), { bufferLogs: true, ...options.options })
        : await createApplication(compiled, { bufferLogs: true });
      options.beforehand?.(app);
      if (byHand) configureApp(app);
      app.useLogger(app.get(Logger));
      await options.prepare?.(app);
      await app.listen(0, '127.0.0.1');
    } catch (error) {
      await app?.close();
      // The next test file in this process numbers its databases anew.
      await database.drop();
      throw error;
    }
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    const started = new TestApp(app, database.url, port, log, database.drop);
    if (databaseUrl) TestApp.first.get(databaseUrl)?.others.push(started);
    else TestApp.first.set(database.url, started);
    return started;
  }

  /**
   * Also stops further instances on its database before that is dropped: behind PgBouncer their statements would wait two minutes
   * for the database.
   */
  stop(): Promise<void> {
    return (this.stopped ??= this.end());
  }

  private async end(): Promise<void> {
    for (const other of this.others) await other.stop();
    if (TestApp.first.get(this.databaseUrl) === this) TestApp.first.delete(this.databaseUrl);
    (this.nest.getHttpServer() as Server).closeAllConnections();
    await this.nest.close();
    await this.drop();
  }
}

function settingsOf(databaseUrl: string, { settings = {} }: TestAppOptions): Settings {
  const { directory, pooler, redis } = testRun();
  return readSettings({
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    ...(pooler && { DATABASE_URL: at(pooler, databaseUrl), DATABASE_POOLER: 'transaction' }),
    DATA_DIR: directory,
    ...(redis && { REDIS_URL: redis }),
    ...settings,
  });
}

/** The same database by another address. */
function at(host: string, databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { host }).href;
}

function compile(
  module: Type,
  settings: Settings,
  log: LogLines,
  { imports = [], override = (builder) => builder }: TestAppOptions,
): Promise<TestingModule> {
  const write = (line: string) => void log.push(JSON.parse(line) as LogLines[number]);
  const builder = Test.createTestingModule({ imports: [module, ...imports] })
    .overrideProvider(Settings)
    .useValue(settings)
    .overrideProvider(PINO)
    .useValue(pino({ serializers: { err: describeError }, ...tellsRequest }, { write }));
  return override(builder).compile();
}
