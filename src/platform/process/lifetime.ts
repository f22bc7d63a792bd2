import { type INestApplicationContext, ShutdownSignal } from '@nestjs/common';
import type { Logger } from 'pino';
import { DatabaseServer } from '../database/database-server';
import { reasonOf } from './startup';

/** Not the signals of a crash, such as SIGSEGV: after those no JavaScript can run. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Those that Nest leaves alone. */
const OWN: readonly string[] = [...SIGNALS, 'SIGHUP'];

type HooksOptions = Parameters<INestApplicationContext['enableShutdownHooks']>[1];

/** What a process keeps alive, and has to end. */
export interface Living {
  /** @param signal on which it ends, if it was one */
  close(signal?: string): Promise<void>;
  /** Reloads on SIGHUP. Returns false when there is nothing to reload: the process then ends. */
  hangUp(): boolean;
}

/**
 * An application that {@link Lifetime} ends, which tells its shutdown hooks the signal. Its `enableShutdownHooks()` is for the
 * signals that are left: on the others Nest would end it a second time, and earlier than the rest of the process allows.
 */
export function livingApplication(app: INestApplicationContext, hangUp: () => boolean): Living {
  const byNest = Object.getPrototypeOf(app) as INestApplicationContext;
  // Nest's proxy before the application drops what is assigned to it.
  Object.defineProperty(app, 'enableShutdownHooks', {
    configurable: true,
    value: function (this: INestApplicationContext, signals: string[] = [], options?: HooksOptions) {
      const asked = signals.length > 0 ? signals : Object.values(ShutdownSignal);
      const others = asked.filter((signal) => !OWN.includes(signal.trim().toUpperCase()));
      // For Nest none at all are all.
      return others.length > 0 ? byNest.enableShutdownHooks.call(this, others, options) : this;
    },
  });
  // Its type in Nest leaves out what it takes.
  const closing: Pick<Living, 'close'> = app;
  return { close: (signal) => closing.close(signal), hangUp };
}

/** Ends the process with all that it has brought to life, be it on a signal or by a failure, running or half-way started. */
export class Lifetime {
  private living: Living | undefined;
  private logger: Logger | undefined;
  private ending = false;
  /** On which another process says when to stop. */
  private deferred: string | undefined;

  /** @param defer tells another process of a signal, if there is one that will say when to stop */
  constructor(private readonly defer: () => boolean = () => false) {
    for (const signal of SIGNALS) process.on(signal, () => this.onSignal(signal));
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

  /**
   * Ends the process when what was asked is answered.
   * @param signal what the hooks of the application are told
   */
  stop(signal: string = this.deferred ?? 'SIGTERM'): void {
    if (!this.ending) this.logger?.info('Stopping: no new connections, what was asked is answered');
    void this.end(0, signal);
  }

  /** The terminal was closed; or, where there is a certificate, there is a new one. */
  private hangUp(): void {
    try {
      if (this.living?.hangUp()) this.logger?.info('The certificate was read again');
      else this.onSignal('SIGHUP');
    } catch (error) {
      this.logger?.error({ err: error }, 'The new certificate is not used, the old one stays');
    }
  }

  private onSignal(signal: string): void {
    if (!this.logger || !this.defer()) return this.stop(signal);
    this.deferred ??= signal;
  }

  /** A second signal changes nothing: a terminal and npm may both send the one of Ctrl+C. */
  private async end(code: number, signal?: string): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    try {
      await (this.living ? this.living.close(signal) : DatabaseServer.stopAll());
      this.logger?.info('Stopped');
      process.exit(code);
    } catch (error) {
      process.stderr.write(`${reasonOf(error)}\n`);
      process.exit(1);
    }
  }
}
