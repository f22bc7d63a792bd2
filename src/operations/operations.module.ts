import { Logger as GlobalLogger, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';
import { HealthController } from './health/health.controller';
import { Jobs } from './jobs';
import { LoggingModule, PINO } from './logging.module';
import { NestLogger } from './nest-logger';

/** What keeps the service observable and stoppable. */
@Module({
  imports: [
    DiscoveryModule,
    LoggingModule,
    // Without its middleware: the line for each request is written by request-log.ts.
    LoggerModule.forRootAsync({
      imports: [],
      providers: [],
      inject: [PINO],
      useFactory: (logger: Logger) => ({ pinoHttp: { logger, autoLogging: false }, forRoutes: [] }),
    }),
    // The error filter logs a failed check, once.
    TerminusModule.forRoot({ logger: false }),
  ],
  providers: [NestLogger, Jobs],
  controllers: [HealthController],
})
export class OperationsModule {
  /** Lines appear from here on, while the database, say, is still waited for. */
  constructor(logger: NestLogger) {
    GlobalLogger.overrideLogger(logger);
    GlobalLogger.flush();
  }
}
