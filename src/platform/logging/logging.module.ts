import { Global, Module } from '@nestjs/common';
import { Settings } from '../config/settings';
import { createLogger } from './logging';

/** The injection token of the pino logger. */
export const PINO = Symbol('pino');

@Global()
@Module({
  providers: [{ provide: PINO, inject: [Settings], useFactory: createLogger }],
  exports: [PINO],
})
export class LoggingModule {}
