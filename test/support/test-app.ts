import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Test } from '@nestjs/testing';
import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import { Logger } from 'nestjs-pino';
import { __resetOutOfContextForTests as forgetLogger } from 'nestjs-pino/PinoLogger';
import pino from 'pino';
import { AppModule } from '../../src/app.module';
import { readSettings } from '../../src/platform/config/read-settings';
import { Settings } from '../../src/platform/config/settings';
import { configureApp } from '../../src/platform/process/configure-app';
import { createApplication } from '../../src/platform/process/create-application';
import { ApiAdapter } from '../../src/platform/server/api-adapter';
import { describeError } from '../../src/platform/logging/logging';
import { PINO } from '../../src/platform/logging/logging.module';
import { tellsRequest } from '../../src/platform/logging/request-fields';
import { SweepTimes } from '../../src/uploads/upload-sweep';
import { cloneTemplate } from './databases';

const NO_LIMIT = String(Number.MAX_SAFE_INTEGER);
const HOUR = 60 * 60 * 1_000;

export interface TestAppOptions {
  /** Environment variables besides those that every test app has. */
  settings?: Record<string, string>;
  /** Modules besides the application's own. */
  imports?: ModuleMetadata['imports'];
  /** The delay of the first sweep of uploads in milliseconds. Default: an hour, because tests make old uploads */
  sweepAfter?: number;
  /** Changes the application before it is configured. createApplication() isn't used then. */
  beforehand?: (app: INestApplication) => void;
  /** Changes the application before it listens, like a team in main.ts. */
  prepare?: (app: INestApplication) => void | Promise<void>;
  /** Options of `createNestApplication()`. createApplication() isn't used then. */
  options?: NestApplicationOptions;
  /** The database of another instance. Default: a new clone of the template */
  databaseUrl?: string;
}

/** The real application with a real database and a real port. */
export class TestApp {
  private constructor(
    readonly nest: INestApplication,
    readonly databaseUrl: string,
    readonly port: number,
    /** Every parsed log line of the application. */
    readonly log: Record<string, unknown>[],
    private readonly drop: () => Promise<void>,
  ) {}

  static async start({
    settings = {},
    imports = [],
    databaseUrl,
    beforehand,
    prepare,
    options,
    sweepAfter = HOUR,
  }: TestAppOptions = {}): Promise<TestApp> {
    const database = databaseUrl ? { url: databaseUrl, drop: () => Promise.resolve() } : await cloneTemplate();
    const log: Record<string, unknown>[] = [];
    const environment = {
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      DATA_DIR: process.env.TEST_DIRECTORY,
      // All callers of a test have the same address.
      LOGIN_ADDRESS_LIMIT: NO_LIMIT,
      REGISTRATION_RATE_LIMIT: NO_LIMIT,
      RENAME_RATE_LIMIT: NO_LIMIT,
      ...(process.env.REDIS_URL && { REDIS_URL: process.env.REDIS_URL }),
      ...settings,
    };
    // With several applications in one process, the first one's log would get all lines of Nest's loggers.
    forgetLogger();
    let app: INestApplication | undefined;
    try {
      const module = await Test.createTestingModule({ imports: [AppModule, ...imports] })
        .overrideProvider(Settings)
        .useValue(readSettings(environment))
        .overrideProvider(SweepTimes)
        .useValue({ first: sweepAfter, interval: HOUR } satisfies SweepTimes)
        .overrideProvider(PINO)
        .useValue(
          pino(
            { serializers: { err: describeError }, ...tellsRequest },
            { write: (line) => void log.push(JSON.parse(line)) },
          ),
        )
        .compile();
      const byHand = beforehand !== undefined || options !== undefined;
      app = byHand
        ? module.createNestApplication(new ApiAdapter(), { bufferLogs: true, ...options })
        : await createApplication(module, { bufferLogs: true });
      beforehand?.(app);
      if (byHand) configureApp(app);
      app.useLogger(app.get(Logger));
      await prepare?.(app);
      await app.listen(0, '127.0.0.1');
    } catch (error) {
      await app?.close();
      // The next test file in this process numbers its databases anew.
      await database.drop();
      throw error;
    }
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    return new TestApp(app, database.url, port, log, database.drop);
  }

  async stop(): Promise<void> {
    (this.nest.getHttpServer() as Server).closeAllConnections();
    await this.nest.close();
    await this.drop();
  }
}
