import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { configureApp } from './configure-app';
import { ApiAdapter } from '../server/api-adapter';
import type { Certificate } from '../server/certificate';

/** What `Test.createTestingModule(...).compile()` of @nestjs/testing resolves to. */
interface TestingModule {
  createNestApplication(adapter: ApiAdapter, options: NestApplicationOptions): INestApplication;
}

export interface ApplicationOptions {
  /** Serves HTTPS with it; plain HTTP when left out. */
  certificate?: Certificate;
  /** Keeps what is logged until there is a logger. Default: false */
  bufferLogs?: boolean;
}

/**
 * The application as main.ts makes it, before it listens: of its module, or of a testing module whose providers are
 * overridden. What a team does to the application - middleware, microservices, adapters of WebSockets - it does to what this
 * resolves to.
 */
export async function createApplication(
  source: Type | TestingModule,
  { certificate, bufferLogs = false }: ApplicationOptions = {},
): Promise<NestExpressApplication> {
  const adapter = new ApiAdapter(certificate);
  const options = { bodyParser: false, abortOnError: false, bufferLogs, autoFlushLogs: !bufferLogs };
  const app = isTestingModule(source)
    ? (source.createNestApplication(adapter, options) as NestExpressApplication)
    : await NestFactory.create<NestExpressApplication>(source, adapter, options);
  try {
    configureApp(app);
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}

function isTestingModule(source: Type | TestingModule): source is TestingModule {
  return 'createNestApplication' in source;
}
