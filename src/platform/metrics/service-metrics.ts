import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, register, Registry } from 'prom-client';
import { processRegistry } from './process-registry';
import { type MetricSnapshot, registerRead, takeSnapshot, type Values } from './read-metric';
import { RequestTimes } from './request-times';
import { StatementTimes } from './statement-times';
import { answered } from '../signals/answered';
import { Measure } from '../signals/measure';

/** Connections to the database, of the pool of a process. */
export interface Connections {
  inUse: number;
  idle: number;
  /** Those who wait for one. */
  waiting: number;
}

/** What is read at the moment of asking. */
export interface Sources {
  requestsInFlight: () => number;
  connections: () => Connections;
  /** The age of the oldest change that the feed can't tell yet, in seconds. */
  changesHeldBack: () => Promise<number>;
}

/** For how long a number of the database is waited for, in milliseconds. The primary waits two seconds for a worker. */
const PATIENCE = 1_500;

/** The metrics of a process that serves requests. */
export class ServiceMetrics {
  private readonly registry = processRegistry();
  private readonly ends: (() => void)[] = [];

  constructor({ requestsInFlight, connections, changesHeldBack }: Sources) {
    this.readGauge('api_processes', 'Processes that serve requests.', () => ({ '': 1 }));
    this.readGauge('http_requests_in_flight', 'Requests without a complete answer.', () => ({
      '': requestsInFlight(),
    }));
    this.readGauge(
      'database_connections',
      'Connections of the pool, and those who wait for one.',
      () => {
        const { inUse, idle, waiting } = connections();
        return { in_use: inUse, idle, waited_for: waiting };
      },
      'state',
    );
    registerRead(this.registry, {
      name: 'api_changes_held_back_seconds',
      help: 'The age of the oldest change that the feed cannot tell yet, as a transaction that has written before still runs.',
      type: 'gauge',
      aggregator: 'max',
      read: inTime(changesHeldBack),
    });
    const times = new RequestTimes(this.registry);
    this.ends.push(answered.hear((one) => times.add(one)));
    this.ends.push(new StatementTimes(this.registry).begin());
    for (const measure of Measure.declared()) this.ends.push(this.follow(measure));
  }

  /** Ends all measuring. */
  end(): void {
    for (const end of this.ends.splice(0)) end();
  }

  /** In the format of Prometheus. */
  text(): Promise<string> {
    return this.all().metrics();
  }

  snapshot(): Promise<MetricSnapshot[]> {
    return takeSnapshot(this.all());
  }

  /** With the metrics that a team has in prom-client's own registry, unless they are here by the same name. */
  private all(): Registry {
    const all = new Registry();
    const metrics = [...this.registry.getMetricsAsArray(), ...register.getMetricsAsArray()];
    for (const metric of metrics) {
      if (!all.getSingleMetric(metric.name)) all.registerMetric(metric as unknown as Gauge);
    }
    return all;
  }

  private follow(measure: Measure): () => void {
    const { kind, name, help, labels: labelNames, begun } = measure;
    const options = { name, help, labelNames, registers: [this.registry] };
    const metric = kind === 'counter' ? new Counter(options) : new Gauge(options);
    for (const labels of begun) metric.inc(labels, 0);
    return measure.hear(({ labels, amount }) => metric.inc(labels, amount));
  }

  /** @param read a value for each value of the label */
  private readGauge(name: string, help: string, read: () => Record<string, number>, label?: string): void {
    const values = () =>
      Object.entries(read()).map(([of, value]) => ({ labels: label === undefined ? {} : { [label]: of }, value }));
    registerRead(this.registry, { name, help, type: 'gauge', aggregator: 'sum', read: values });
  }
}

/** Reads a number that may come late or never, as when the database is away: the other metrics must not wait for it. */
function inTime(read: () => Promise<number>): () => Promise<Values> {
  let reading: Promise<Values> | undefined;
  const start = () =>
    read()
      .then(
        (value): Values => [{ labels: {}, value }],
        (): Values => [],
      )
      .finally(() => (reading = undefined));
  return async () => {
    reading ??= start();
    const isOver = new AbortController();
    const late = sleep(PATIENCE, [], { signal: isOver.signal, ref: false }).catch((): Values => []);
    return Promise.race([reading, late]).finally(() => isOver.abort());
  };
}
