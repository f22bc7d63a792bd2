import cluster, { type Worker as Process } from 'node:cluster';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { StartupError } from '../config/startup-error';
import type { Attendant } from './connection-acceptor';
import type { MetricSnapshot } from '../metrics';
import { type MetricsMessage, WorkerMessage } from './worker-messages';

/** A worker process, seen by its primary. */
export class Worker implements Attendant {
  /** Resolves to the exit code of the process, or to the signal that killed it. */
  readonly exit: Promise<number | string>;
  /** Resolves when everything that the process has sent is here, and nothing follows. */
  readonly silence: Promise<unknown>;
  private readonly unsent = new Set<Socket>();
  private readonly process: Process;
  private serving = false;

  constructor(environment: Record<string, string>) {
    this.process = cluster.fork(environment);
    this.exit = once(this.process, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
    this.silence = once(this.process, 'disconnect');
    // The channel to an ending process may break. Its exit is reported separately.
    this.process.on('error', () => undefined);
  }

  /**
   * Resolves when the worker can serve.
   * @throws {StartupError} when the worker ends instead. It has logged the reason
   */
  async ready(): Promise<void> {
    const ready = new Promise<boolean>((resolve) => this.on(WorkerMessage.READY, () => resolve(true)));
    this.serving = await Promise.race([ready, this.exit.then(() => false)]);
    if (!this.serving) throw new StartupError('A worker process has ended instead of listening.');
  }

  get pid(): number | undefined {
    return this.process.process.pid;
  }

  on(message: WorkerMessage, listener: () => void): void {
    this.process.on('message', (received) => {
      if (received === message) listener();
    });
  }

  /** True while a connection waits until the worker has received the one before. Other messages wait behind it. */
  get isBusy(): boolean {
    return this.unsent.size > 0;
  }

  /** Passes a connection on to the worker, which then owns it. */
  take(connection: Socket, onTaken: () => void): void {
    this.unsent.add(connection);
    this.process.process.send?.(WorkerMessage.CONNECTION, connection, {}, (error) => {
      // A killed worker's channel closes before its end is known. The connection goes to another worker then.
      if (error) return;
      this.unsent.delete(connection);
      onTaken();
    });
  }

  onMetrics(listener: (metrics: MetricSnapshot[]) => void): void {
    this.process.on('message', (told: MetricsMessage) => {
      if (told.message === WorkerMessage.METRICS) listener(told.metrics);
    });
  }

  askMetrics(): void {
    if (this.process.isConnected()) this.process.send(WorkerMessage.METRICS);
  }

  /** The connections that were queued for this worker when it ended. */
  get untaken(): Socket[] {
    return [...this.unsent].filter(({ destroyed }) => !destroyed);
  }

  signal(signal: NodeJS.Signals): void {
    this.process.process.kill(signal);
  }

  /**
   * Tells the worker to end after it has answered. The channel keeps its order, so the worker has received all its
   * connections by then.
   */
  async end(): Promise<void> {
    if (!this.serving) this.signal('SIGKILL');
    else if (this.process.isConnected()) this.process.send(WorkerMessage.END);
    await this.exit;
  }
}
