import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Settings } from '../config/settings';
import { DatabaseServer } from '../database/database-server';
import { ConnectionAcceptor } from './connection-acceptor';
import type { Closable } from './lifetime';
import { createLogger } from '../logging/logging';
import { PrimaryMetrics } from './primary-metrics';
import { announce } from './startup';
import { Worker } from './worker';
import { WorkerMessage } from './worker-messages';

/**
 * The delay before another attempt to replace a worker, in milliseconds: a worker that can't start must not keep the
 * machine busy.
 */
const RESTART_DELAY = 1_000;

/**
 * The primary process of PROCESSES workers. It accepts their connections, runs the embedded database, counts for their
 * rate limits, and replaces workers that end.
 */
export class Primary implements Closable {
  readonly logger: Logger;
  private readonly acceptor = new ConnectionAcceptor();
  private readonly workers = new Set<Worker>();
  private readonly metrics?: PrimaryMetrics;
  private ending = false;
  private readonly demo = { open: false, offered: false };
  private databaseUrl: string;

  constructor(private readonly settings: Settings) {
    this.logger = createLogger(settings);
    cluster.setupPrimary({ exec: require.resolve('../../main') });
    new RateLimiterClusterMaster();
    const { METRICS_PORT } = settings;
    if (METRICS_PORT !== undefined) this.metrics = new PrimaryMetrics(METRICS_PORT, settings, this.logger);
  }

  /** @throws {StartupError} when the service can't be started */
  async start(): Promise<void> {
    const { DATABASE_URL, DATA_DIR, PROCESSES, PORT } = this.settings;
    this.databaseUrl = DATABASE_URL ?? (await DatabaseServer.embed(DATA_DIR)).url;
    await this.metrics?.open();
    // The first worker starts alone: it migrates the database, and reports only once what prevents the start.
    await this.startWorker();
    await Promise.all(Array.from({ length: PROCESSES - 1 }, () => this.startWorker()));
    const port = await this.acceptor.open(PORT, this.settings.listenAddress(this.demo.open));
    announce(this.settings, this.logger, { port, demo: this.demo });
  }

  /** Closes the port, ends the workers when they have answered, and then stops the database. */
  async close(): Promise<void> {
    this.ending = true;
    await this.acceptor.close();
    await Promise.all([...this.workers].map((worker) => worker.end()));
    await this.metrics?.close();
    await DatabaseServer.stopAll();
  }

  /** Passes SIGHUP on to the workers, which hold the certificate. */
  reload(): boolean {
    if (!this.settings.TLS_CERT) return false;
    for (const worker of this.workers) worker.signal('SIGHUP');
    return true;
  }

  /** @throws {StartupError} when the worker ends instead of starting. It has logged the reason */
  private async startWorker(): Promise<void> {
    const worker = new Worker({
      DATABASE_URL: this.databaseUrl,
      // A worker always sees a DATABASE_URL, so the default that depends on its absence is passed on.
      DEMO_DATA: String(this.settings.demoData),
    });
    this.workers.add(worker);
    void worker.exit.then(() => this.workers.delete(worker));
    worker.on(WorkerMessage.DEMO, () => (this.demo.open = true));
    worker.on(WorkerMessage.OFFER, () => (this.demo.offered = true));
    await worker.ready();
    this.acceptor.add(worker);
    this.metrics?.watch(worker);
    let leaves = false;
    worker.on(WorkerMessage.LEAVING, () => {
      if (!leaves) void this.relieve(worker);
      leaves = true;
    });
    void worker.exit.then((reason) => {
      this.acceptor.remove(worker, worker.untaken);
      if (leaves || this.ending) return;
      this.logger.error({ worker: worker.pid, reason }, 'A worker process has ended, another takes its place');
      void this.replace();
    });
  }

  /**
   * Replaces a worker that was told to end. It serves until its replacement has started. Nothing is replaced if the
   * whole service ends.
   */
  private async relieve(worker: Worker): Promise<void> {
    await this.replace();
    if (this.ending) return;
    this.acceptor.remove(worker);
    await worker.end();
  }

  private async replace(): Promise<void> {
    while (!this.ending) {
      try {
        return await this.startWorker();
      } catch {
        await sleep(RESTART_DELAY);
      }
    }
  }
}
