import { Injectable } from '@nestjs/common';
import { Logger } from 'nestjs-pino';

/**
 * The contexts of Nest's log lines at the start: about each module and route, useful if one is missing, and about
 * errors that Nest rethrows and lifetime.ts explains.
 */
const START = [
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'ExceptionHandler',
];

/** Writes Nest's lines to pino. Lines about the start have level debug. */
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
