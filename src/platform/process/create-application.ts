import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { configureApp } from './configure-app';
import { ApiAdapter } from '../server/api-adapter';
import type { Certificate } from '../server/certificate';

/** The result of `Test.createTestingModule(...).compile()` of @nestjs/testing. */
interface TestingModule {
  createNestApplication(adapter: ApiAdapter, options: NestApplicationOptions): INestApplication;
}

/** The options of `NestFactory.create()` that a team may choose. The service decides about the others. */
export type NestOptions = Pick<NestApplicationOptions, 'cookies' | 'routeConflictPolicy'>;

export interface ApplicationOptions {
  /** Options of Nest. Default: none */
  nest?: NestOptions;
  /** The certificate for HTTPS. Default: plain HTTP */
  certificate?: Certificate;
  /** Buffers log lines until there is a logger. Default: false */
  bufferLogs?: boolean;
}

/**
 * Creates the application before it listens, from its module or from a testing module with overridden providers. A team
 * adds middleware, microservices and WebSocket adapters to the result.
 */
export async function createApplication(
  source: Type | TestingModule,
  { nest, certificate, bufferLogs = false }: ApplicationOptions = {},
): Promise<NestExpressApplication> {
  const adapter = new ApiAdapter(certificate);
  const options = { ...nest, bodyParser: false, abortOnError: false, bufferLogs, autoFlushLogs: !bufferLogs };
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
