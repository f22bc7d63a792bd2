import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';
import { DatabaseServer } from '../database/database-server';
import type { Living } from './lifetime';
import { createLogger } from './logging';
import { announce } from './startup';

/** How soon a worker that ended may be replaced, in milliseconds: one that can't live must not keep the machine busy. */
const RESTART_DELAY = 1_000;

/**
 * The process that has others do the work, PROCESSES of them, all on one port. It keeps the embedded database, counts for
 * their rate limits, and puts another in the place of one that ends.
 */
export class Primary implements Living {
  readonly logger: Logger;
  private ending = false;
  private port = 0;
  private databaseUrl: string;

  constructor(private readonly settings: Settings) {
    this.logger = createLogger(settings);
    cluster.setupPrimary({ exec: require.resolve('../main') });
    new RateLimiterClusterMaster();
  }

  /** @throws {StartupError} when a worker ends instead of listening; it has said why */
  async start(): Promise<void> {
    const { DATABASE_URL, DATA_DIR, PROCESSES } = this.settings;
    this.databaseUrl = DATABASE_URL ?? (await DatabaseServer.embed(DATA_DIR)).url;
    // One comes first: it migrates the database, and says but once what keeps the service from starting.
    await this.startWorker();
    await Promise.all(Array.from({ length: PROCESSES - 1 }, () => this.startWorker()));
    announce(this.settings, this.logger, this.port);
  }

  /** Ends the workers as a signal would, and then the database. */
  async close(): Promise<void> {
    this.ending = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.end(worker)));
    await DatabaseServer.stopAll();
  }

  /** Passed on to those who have the certificate. */
  hangUp(): boolean {
    if (!this.settings.TLS_CERT) return false;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGHUP');
    return true;
  }

  private async end(worker: Worker): Promise<void> {
    if (worker.isDead()) return;
    const exit = once(worker, 'exit');
    worker.process.kill('SIGTERM');
    await exit;
  }

  /** Resolves when it listens. */
  private async startWorker(): Promise<void> {
    const worker = cluster.fork({
      DATABASE_URL: this.databaseUrl,
      // What the database being an embedded one would have said.
      DEMO_DATA: String(this.settings.demoData),
    });
    const ended = once(worker, 'exit').then(() => undefined);
    const address = await Promise.race([once(worker, 'listening').then(([{ port }]) => port as number), ended]);
    if (address === undefined) throw new StartupError('A worker process has ended instead of listening.');
    this.port = address;
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (this.ending) return;
      const { pid } = worker.process;
      this.logger.error({ worker: pid, reason: signal ?? code }, 'A worker process has ended, another takes its place');
      void this.replaceWorker();
    });
  }

  private async replaceWorker(): Promise<void> {
    while (!this.ending) {
      try {
        return await this.startWorker();
      } catch {
        await sleep(RESTART_DELAY);
      }
    }
  }
}
