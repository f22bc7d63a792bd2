import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings';
import type { MetricsServer, SumOfProcesses } from '../metrics';
import { seconds } from '../units';
import { loadMetrics } from './metrics-endpoint';
import type { Worker } from './worker';

/** How long a worker has to tell its metrics, in milliseconds. After that, what it told last counts. */
const PATIENCE = seconds(2);

/** The metrics of the primary and all its workers, as one, on METRICS_PORT. */
export class PrimaryMetrics {
  private readonly server: MetricsServer;
  private readonly sum: SumOfProcesses;
  private readonly workers = new Set<Worker>();
  /** Those who have been asked and have not told yet. */
  private readonly asked = new Set<Worker>();
  private onAllTold?: () => void;

  /** @param port METRICS_PORT */
  constructor(
    private readonly port: number,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {
    const { MetricsServer, processRegistry, registerRead, SumOfProcesses, takeSnapshot } = loadMetrics();
    const own = processRegistry();
    registerRead(own, {
      name: 'api_silent_processes',
      help: 'Worker processes that did not tell their metrics in time, so that older ones count.',
      type: 'gauge',
      aggregator: 'sum',
      read: () => [{ labels: {}, value: this.asked.size }],
    });
    this.sum = new SumOfProcesses();
    this.server = new MetricsServer(async () => {
      await this.askAll();
      return this.sum.text(await takeSnapshot(own));
    });
  }

  /** Resolves when the port is open. @throws {StartupError} */
  async open(): Promise<void> {
    const { METRICS_HOST } = this.settings;
    const port = await this.server.open(this.port, METRICS_HOST);
    this.logger.info({ metrics_port: port }, `Metrics  http://${METRICS_HOST}:${port}/metrics`);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** @param worker one that has started */
  watch(worker: Worker): void {
    this.workers.add(worker);
    worker.onMetrics((metrics) => {
      this.sum.told(worker, metrics);
      this.hasTold(worker);
    });
    void worker.silence.then(() => {
      this.workers.delete(worker);
      this.sum.hasEnded(worker);
      this.hasTold(worker);
    });
  }

  private hasTold(worker: Worker): void {
    this.asked.delete(worker);
    if (this.asked.size === 0) this.onAllTold?.();
  }

  private async askAll(): Promise<void> {
    for (const worker of this.workers) {
      // One that hasn't told yet isn't asked again, so that questions don't pile up.
      if (!this.asked.has(worker)) worker.askMetrics();
      this.asked.add(worker);
    }
    if (this.asked.size === 0) return;
    const isOver = new AbortController();
    const allTold = new Promise<void>((resolve) => (this.onAllTold = resolve));
    await Promise.race([allTold, sleep(PATIENCE, undefined, isOver).catch(() => undefined)]);
    isOver.abort();
  }
}
