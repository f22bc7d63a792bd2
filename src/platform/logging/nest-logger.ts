import { Injectable } from '@nestjs/common';
import { Logger } from 'nestjs-pino';

/**
 * Who speaks while Nest starts: of each module and route that it sets up, worth reading when one is missing, and of the
 * errors that it throws on, which lifetime.ts explains.
 */
const START = [
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'ExceptionHandler',
];

/** Nest's lines go to pino like all others; those of the start are there at level debug. */
@Injectable()
export class NestLogger extends Logger {
  override log(message: unknown, ...others: unknown[]): void {
    if (START.includes(String(others.at(-1)))) this.debug(message, ...others);
    else super.log(message, ...others);
  }

  override error(message: unknown, ...others: unknown[]): void {
    if (START.includes(String(others.at(-1)))) this.debug(message, ...others);
    else super.error(message, ...others);
  }
}
