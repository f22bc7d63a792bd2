import { forwardRef, Inject, Logger as GlobalLogger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';
import { FollowedReads } from './followed-reads';
import { HealthController } from './health/health.controller';
import { ApiIndex } from './indexes/api-index';
import { IndexesController } from './indexes/indexes.controller';
import { Jobs } from './jobs';
import { MetricsEndpoint } from './metrics-endpoint';
import { LoggingModule, PINO } from '../logging/logging.module';
import { NestLogger } from '../logging/nest-logger';
import { ReplicaReads } from './replica-reads';
import { RequiredAdapter } from '../server/required-adapter';
import { keepAssigned } from '../logging/request-fields';
import { traces } from '../traces/begin';

/** Logging, health checks, metrics and jobs. */
@Module({
  imports: [
    DiscoveryModule,
    LoggingModule,
    // LoggerModule's middleware is left out: request-log.ts writes the line of each request. The module is loaded after
    // all others, because it provides what their @InjectPinoLogger() ask for.
    forwardRef(() =>
      LoggerModule.forRootAsync({
        imports: [],
        providers: [],
        inject: [PINO],
        useFactory: (logger: Logger) => ({ pinoHttp: { logger, autoLogging: false }, forRoutes: [] }),
      }),
    ),
    // The error filter logs a failed check, once.
    TerminusModule.forRoot({ logger: false }),
  ],
  providers: [NestLogger, Jobs, RequiredAdapter, FollowedReads, ReplicaReads, ApiIndex, MetricsEndpoint],
  controllers: [IndexesController, HealthController],
})
export class ProcessModule implements OnApplicationShutdown {
  /** From here on lines are logged, e.g. while the database is waited for. */
  constructor(logger: NestLogger, @Inject(PINO) pino: Logger) {
    keepAssigned(pino);
    GlobalLogger.overrideLogger(logger);
    GlobalLogger.flush();
  }

  async onApplicationShutdown(): Promise<void> {
    await traces?.end();
  }
}
