import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiAdapter } from './api-adapter';
import { StartupError } from '../config/startup-error';

const HOW_TO =
  'Make it by createApplication(AppModule) of src/platform, which also takes what ' +
  'Test.createTestingModule({ imports: [AppModule] }).compile() resolves to';

export const requireAdapter = (adapter: unknown): ApiAdapter => {
  if (adapter instanceof ApiAdapter) return adapter;
  throw new StartupError(
    "This application has Nest's own HTTP adapter, by which its answers would have no envelope, log line or time limit, and its " +
      `bodies would be read before anyone is asked for a token. ${HOW_TO}.`,
  );
};

/**
 * Refuses to serve by Nest's own adapter. An application without an adapter is fine: for jobs, messages and tests of
 * providers.
 */
@Injectable()
export class RequiredAdapter implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    if (this.host.httpAdapter) requireAdapter(this.host.httpAdapter);
  }
}
