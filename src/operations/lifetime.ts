import type { INestApplication } from '@nestjs/common';
import type { Logger } from 'pino';
import { DatabaseServer } from '../database/database-server';
import { PINO } from './logging.module';
import { reasonOf } from './startup';

/** Not the signals of a crash, such as SIGSEGV: after those no JavaScript can run. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Ends the process with all that it has brought to life, be it on a signal or by a failure, running or half-way started. */
export class Lifetime {
  private app: INestApplication | undefined;
  private logger: Logger | undefined;
  private ending = false;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, () => this.stop());
    // A rejected promise that nobody awaits comes here as well.
    process.on('uncaughtException', (error) => this.fail(error));
  }

  /** From here on the application is what has to be closed. */
  created<T extends INestApplication>(app: T): T {
    this.app = app;
    return app;
  }

  /** From here on there is a log to tell of the end. */
  started(): void {
    this.logger = this.app?.get<Logger>(PINO);
  }

  fail(error: unknown): void {
    if (this.logger) this.logger.fatal({ err: error }, 'The service ends');
    // A start that is cut short by its end fails, but that is not the reason.
    else if (!this.ending) process.stderr.write(`${reasonOf(error)}\n`);
    void this.end(1);
  }

  private stop(): void {
    if (!this.ending) this.logger?.info('Stopping: no new connections, what was asked is answered');
    void this.end(0);
  }

  /** A second signal changes nothing: a terminal and npm may both send the one of Ctrl+C. */
  private async end(code: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    try {
      await (this.app ? this.app.close() : DatabaseServer.stopAll());
      this.logger?.info('Stopped');
      process.exit(code);
    } catch (error) {
      process.stderr.write(`${reasonOf(error)}\n`);
      process.exit(1);
    }
  }
}
