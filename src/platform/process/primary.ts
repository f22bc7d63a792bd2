import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Settings } from '../config/settings';
import { DatabaseServer } from '../database/database-server';
import { Entrance } from './entrance';
import type { Living } from './lifetime';
import { createLogger } from '../logging/logging';
import { announce } from './startup';
import { Worker } from './worker';
import { WorkerMessage } from './worker-messages';

/** How soon a worker that ended may be replaced, in milliseconds: one that can't live must not keep the machine busy. */
const RESTART_DELAY = 1_000;

/**
 * The process that has others do the work, PROCESSES of them. It accepts their connections, keeps the embedded database,
 * counts for their rate limits, and puts another in the place of one that ends.
 */
export class Primary implements Living {
  readonly logger: Logger;
  private readonly entrance = new Entrance();
  private readonly workers = new Set<Worker>();
  private ending = false;
  private readonly demo = { open: false, offered: false };
  private databaseUrl: string;

  constructor(private readonly settings: Settings) {
    this.logger = createLogger(settings);
    cluster.setupPrimary({ exec: require.resolve('../../main') });
    new RateLimiterClusterMaster();
  }

  /** @throws {StartupError} when the service can't be started */
  async start(): Promise<void> {
    const { DATABASE_URL, DATA_DIR, PROCESSES, PORT } = this.settings;
    this.databaseUrl = DATABASE_URL ?? (await DatabaseServer.embed(DATA_DIR)).url;
    // One comes first: it migrates the database, and says but once what keeps the service from starting.
    await this.startWorker();
    await Promise.all(Array.from({ length: PROCESSES - 1 }, () => this.startWorker()));
    const port = await this.entrance.open(PORT, this.settings.listenAddress(this.demo.open));
    announce(this.settings, this.logger, { port, demo: this.demo });
  }

  /** Closes the port, ends the workers when they have answered, and then the database. */
  async close(): Promise<void> {
    this.ending = true;
    await this.entrance.close();
    await Promise.all([...this.workers].map((worker) => worker.end()));
    await DatabaseServer.stopAll();
  }

  /** Passed on to those who have the certificate. */
  hangUp(): boolean {
    if (!this.settings.TLS_CERT) return false;
    for (const worker of this.workers) worker.signal('SIGHUP');
    return true;
  }

  /** @throws {StartupError} when it ends instead of starting; it has said why */
  private async startWorker(): Promise<void> {
    const worker = new Worker({
      DATABASE_URL: this.databaseUrl,
      // A worker always sees a DATABASE_URL, so the default that follows from its absence is passed on.
      DEMO_DATA: String(this.settings.demoData),
    });
    this.workers.add(worker);
    void worker.exit.then(() => this.workers.delete(worker));
    worker.on(WorkerMessage.DEMO, () => (this.demo.open = true));
    worker.on(WorkerMessage.OFFER, () => (this.demo.offered = true));
    await worker.ready();
    this.entrance.add(worker.take);
    let leaves = false;
    worker.on(WorkerMessage.LEAVING, () => {
      if (!leaves) void this.relieve(worker);
      leaves = true;
    });
    void worker.exit.then((reason) => {
      this.entrance.remove(worker.take, worker.untaken);
      if (leaves || this.ending) return;
      this.logger.error({ worker: worker.pid, reason }, 'A worker process has ended, another takes its place');
      void this.replace();
    });
  }

  /** A worker that was told to end serves on until there is another; if it isn't the service that is to end. */
  private async relieve(worker: Worker): Promise<void> {
    await this.replace();
    if (this.ending) return;
    this.entrance.remove(worker.take);
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
