import cluster from 'node:cluster';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { SettledChanges } from '../changes/settled-changes';
import { Settings } from '../config/settings';
import { PINO } from '../logging/logging.module';
import type { MetricsServer, ServiceMetrics } from '../metrics';
import { ApiAdapter } from '../server/api-adapter';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import { answerMetrics } from './cluster-worker';

/**
 * The metrics of this process, with METRICS_PORT: on that port, or told to the primary of several processes. They are
 * there until the last request is answered.
 */
@Injectable()
export class MetricsEndpoint implements OnApplicationBootstrap, OnApplicationShutdown {
  /** The port; undefined without METRICS_PORT, and in a worker. */
  port?: number;
  private metrics?: ServiceMetrics;
  private server?: MetricsServer;
  private tellLast?: () => Promise<void>;

  constructor(
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
    private readonly database: DataSource,
    private readonly changes: SettledChanges,
    @Inject(PINO) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { METRICS_PORT, METRICS_HOST } = this.settings;
    const adapter: unknown = this.host.httpAdapter;
    // A context without a server, such as the REPL, serves nothing.
    if (METRICS_PORT === undefined || !(adapter instanceof ApiAdapter)) return;
    const { MetricsServer, ServiceMetrics } = loadMetrics();
    const metrics = (this.metrics = new ServiceMetrics({
      requestsInFlight: () => adapter.unanswered,
      connections: () => this.connections(),
      changesHeldBack: () => this.changes.heldBack(),
    }));
    if (cluster.isWorker) this.tellLast = answerMetrics(() => metrics.snapshot());
    else {
      this.server = new MetricsServer(() => metrics.text());
      this.port = await this.server.open(METRICS_PORT, METRICS_HOST);
      this.logger.info({ metrics_port: this.port }, `Metrics  http://${METRICS_HOST}:${this.port}/metrics`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.tellLast?.();
    await this.server?.close();
    this.metrics?.end();
  }

  private connections() {
    if (!hasOwnPool(this.database)) return { inUse: 0, idle: 0, waiting: 0 };
    const pool = poolOf(this.database);
    const waiting = pool.waitingCount + (pool.turns?.waiting ?? 0);
    return { inUse: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting };
  }
}

/** Loaded on demand, because most processes have no METRICS_PORT. */
export function loadMetrics(): typeof import('../metrics') {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('../metrics') as typeof import('../metrics');
}
