import type { Logger } from 'pino';
import { DatabaseServer } from '../database/database-server';
import { reasonOf } from './startup';

/** Not the signals of a crash, such as SIGSEGV: after those no JavaScript can run. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** What a process keeps alive, and has to end. */
export interface Living {
  close(): Promise<void>;
  /** Whether there is something to do on SIGHUP other than to end, which is then done. */
  hangUp(): boolean;
}

/** Ends the process with all that it has brought to life, be it on a signal or by a failure, running or half-way started. */
export class Lifetime {
  private living: Living | undefined;
  private logger: Logger | undefined;
  private ending = false;

  /** @param defer tells another process of a signal, if there is one that will say when to stop */
  constructor(private readonly defer: () => boolean = () => false) {
    for (const signal of SIGNALS) process.on(signal, () => this.onSignal());
    process.on('SIGHUP', () => this.hangUp());
    // A rejected promise that nobody awaits comes here as well.
    process.on('uncaughtException', (error) => this.fail(error));
  }

  /** From here on there is something to close. */
  created(living: Living): void {
    this.living = living;
  }

  /** From here on there is a log to tell of the end. */
  started(logger: Logger): void {
    this.logger = logger;
  }

  fail(error: unknown): void {
    if (this.logger) this.logger.fatal({ err: error }, 'The service ends');
    // A start that is cut short by its end fails, but that is not the reason.
    else if (!this.ending) process.stderr.write(`${reasonOf(error)}\n`);
    void this.end(1);
  }

  /** Ends the process when what was asked is answered. */
  stop(): void {
    if (!this.ending) this.logger?.info('Stopping: no new connections, what was asked is answered');
    void this.end(0);
  }

  /** The terminal was closed; or, where there is a certificate, there is a new one. */
  private hangUp(): void {
    try {
      if (this.living?.hangUp()) this.logger?.info('The certificate was read again');
      else this.onSignal();
    } catch (error) {
      this.logger?.error({ err: error }, 'The new certificate is not used, the old one stays');
    }
  }

  private onSignal(): void {
    if (!this.logger || !this.defer()) this.stop();
  }

  /** A second signal changes nothing: a terminal and npm may both send the one of Ctrl+C. */
  private async end(code: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    try {
      await (this.living ? this.living.close() : DatabaseServer.stopAll());
      this.logger?.info('Stopped');
      process.exit(code);
    } catch (error) {
      process.stderr.write(`${reasonOf(error)}\n`);
      process.exit(1);
    }
  }
}
