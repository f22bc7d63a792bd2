import type { MetricSnapshot } from '../metrics';

/** Messages between a worker and its primary. */
export enum WorkerMessage {
  /** From the worker: it can serve. */
  READY = 'resource-api:ready',
  /** From the worker, before READY: there are demo accounts. */
  DEMO = 'resource-api:demo',
  /** From the worker, before READY: one can sign in as a demo user and as a demo administrator. */
  OFFER = 'resource-api:offer',
  /** From the worker: a signal told it to end. */
  LEAVING = 'resource-api:leaving',
  /** To the worker: tell your metrics. From the worker, as `message` beside them. */
  METRICS = 'resource-api:metrics',
  /** To the worker, with a connection. */
  CONNECTION = 'resource-api:connection',
  /** To the worker: no connection follows. */
  END = 'resource-api:end',
}

/** What a worker tells of itself when it is asked, and before it ends. */
export interface MetricsMessage {
  message: WorkerMessage.METRICS;
  metrics: MetricSnapshot[];
}
