import { AggregatorRegistry } from 'prom-client';
import type { MetricSnapshot } from './read-metric';

const GROWING = ['counter', 'histogram'];

/**
 * The metrics of several processes as one. What a process has counted stays in the sum when the process has ended:
 * Prometheus would take a smaller sum for a restart, and count everything that is left once more.
 */
export class SumOfProcesses {
  /** What each process has told last. */
  private readonly latest = new Map<object, MetricSnapshot[]>();
  private ended: MetricSnapshot[] = [];

  told(by: object, metrics: MetricSnapshot[]): void {
    this.latest.set(by, metrics);
  }

  hasEnded(process: object): void {
    const last = this.latest.get(process) ?? [];
    this.latest.delete(process);
    const counted = last.filter(({ type }) => GROWING.includes(type));
    this.ended = sum([this.ended, counted]);
  }

  /** In the format of Prometheus. @param own of the process that asks */
  text(own: MetricSnapshot[]): Promise<string> {
    return registryOf([own, ...this.latest.values(), this.ended]).metrics();
  }
}

function registryOf(all: MetricSnapshot[][]): AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> {
  // Its type says object, for what getMetricsAsJSON() returns.
  return AggregatorRegistry.aggregate(all) as ReturnType<typeof registryOf>;
}

function sum(all: MetricSnapshot[][]): MetricSnapshot[] {
  const registry = registryOf(all);
  return registry.getMetricsAsArray() as unknown as MetricSnapshot[];
}
