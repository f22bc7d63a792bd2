import { type INestApplicationContext, ShutdownSignal } from '@nestjs/common';
import type { Logger } from 'pino';
import { DatabaseServer } from '../database/database-server';
import { reasonOf } from './startup';

/** Signals of a crash, such as SIGSEGV, aren't included: no JavaScript can run after them. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** The signals that Nest must not handle. */
const OWN: readonly string[] = [...SIGNALS, 'SIGHUP'];

type HooksOptions = Parameters<INestApplicationContext['enableShutdownHooks']>[1];

/** How long a process takes at most to end when its requests have had their time, in milliseconds: connections, hooks of a team's. */
export const GRACE = 12_000;
/** The same of a start that is cut short before anything can be closed but a database. */
const GRACE_OF_START = 60_000;

/** What a process keeps alive, and has to end. */
export interface Closable {
  /** @param signal the signal that ends the process, if any */
  close(signal?: string): Promise<void>;
  /** Reloads on SIGHUP. Returns false if there is nothing to reload: the process then ends. */
  reload(): boolean;
}

/**
 * Makes {@link Lifetime} close the application. `enableShutdownHooks()` only handles the remaining signals: Nest would
 * otherwise close the application a second time, and before the rest of the process is ready.
 */
export function closableApplication(app: INestApplicationContext, reload: () => boolean): Closable {
  const byNest = Object.getPrototypeOf(app) as INestApplicationContext;
  // Nest wraps the application in a proxy that ignores assigned properties.
  Object.defineProperty(app, 'enableShutdownHooks', {
    configurable: true,
    value: function (this: INestApplicationContext, signals: string[] = [], options?: HooksOptions) {
      const asked = signals.length > 0 ? signals : Object.values(ShutdownSignal);
      const others = asked.filter((signal) => !OWN.includes(signal.trim().toUpperCase()));
      // Nest takes an empty list for all signals.
      return others.length > 0 ? byNest.enableShutdownHooks.call(this, others, options) : this;
    },
  });
  // Nest's type of close() omits its parameter.
  const closing: Pick<Closable, 'close'> = app;
  return { close: (signal) => closing.close(signal), reload };
}

/** Ends the process on a signal or a failure, and closes what was started, even half-way. */
export class Lifetime {
  private closable: Closable | undefined;
  /** Milliseconds after which the process ends whatever still waits. */
  private patience = GRACE_OF_START;
  private logger: Logger | undefined;
  private ending = false;
  /** The signal on which another process decides when to stop. */
  private deferred: string | undefined;

  /** @param defer reports a signal to another process, which decides when to stop. Returns false if there is none */
  constructor(private readonly defer: () => boolean = () => false) {
    for (const signal of SIGNALS) process.on(signal, () => this.onSignal(signal));
    process.on('SIGHUP', () => this.onHangUp());
    // Node passes unhandled rejections here as well.
    process.on('uncaughtException', (error) => this.fail(error));
  }

  /** From here on there is something to close. @param requests for how long what was asked may still take, in milliseconds */
  created(closable: Closable, requests: number): void {
    this.closable = closable;
    this.patience = requests + GRACE;
  }

  /** Called when there is a log. */
  started(logger: Logger): void {
    this.logger = logger;
  }

  fail(error: unknown): void {
    if (this.logger) this.logger.fatal({ err: error }, 'The service ends');
    // A start that is interrupted by the end fails too, but that isn't the reason.
    else if (!this.ending) process.stderr.write(`${reasonOf(error)}\n`);
    void this.end(1);
  }

  /**
   * Ends the process when open requests are answered.
   * @param signal the signal for the shutdown hooks of the application
   */
  stop(signal: string = this.deferred ?? 'SIGTERM'): void {
    if (!this.ending) this.logger?.info('Stopping: no new connections, what was asked is answered');
    void this.end(0, signal);
  }

  /**
   * On SIGHUP the certificate is read again, if there is one. Otherwise the terminal was closed, and the process ends.
   */
  private onHangUp(): void {
    try {
      if (this.closable?.reload()) this.logger?.info('The certificate was read again');
      else this.onSignal('SIGHUP');
    } catch (error) {
      this.logger?.error({ err: error }, 'The new certificate is not used, the old one stays');
    }
  }

  private onSignal(signal: string): void {
    if (!this.logger || !this.defer()) return this.stop(signal);
    this.deferred ??= signal;
  }

  /** A second signal changes nothing: a terminal and npm may both send the signal of Ctrl+C. */
  private async end(code: number, signal?: string): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    const last = setTimeout(() => this.giveUp(), this.patience).unref();
    try {
      await (this.closable ? this.closable.close(signal) : DatabaseServer.stopAll());
      clearTimeout(last);
      this.logger?.info('Stopped');
      process.exit(code);
    } catch (error) {
      process.stderr.write(`${reasonOf(error)}\n`);
      process.exit(1);
    }
  }

  /** A hook that never ends, say: whoever waits for this process would kill it, and nobody knew why. */
  private giveUp(): void {
    this.logger?.error(
      `The service has not ended in ${this.patience / 1_000} seconds, and is cut off: something waits for ever`,
    );
    process.exit(1);
  }
}
