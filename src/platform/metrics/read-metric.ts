import type { Metric, MetricValueWithName, Registry } from 'prom-client';

export type Values = MetricValueWithName<string>[];

/** What a metric has at a moment, as processes pass it on to each other. */
export interface MetricSnapshot {
  name: string;
  help: string;
  type: string;
  /** How the values of several processes become one; see prom-client's aggregators. */
  aggregator: string;
  values: Values;
}

export interface ReadMetric extends Omit<MetricSnapshot, 'values'> {
  type: 'counter' | 'gauge' | 'histogram';
  aggregator: 'sum' | 'max' | 'min' | 'first';
  read: () => Values | Promise<Values>;
}

/** Adds a metric whose values are read when somebody asks. */
export function registerRead(registry: Registry, { read, ...about }: ReadMetric): void {
  const get = async () => ({ ...about, values: await read() });
  // A registry needs no more of a metric than its name and get().
  registry.registerMetric({ ...about, get } as unknown as Metric);
}

export const takeSnapshot = async (registry: Registry): Promise<MetricSnapshot[]> =>
  (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
