import type { MetricValueWithName } from 'prom-client';

/** The upper bounds of the buckets, in seconds: from a read of one row to the time limit of a request. */
export const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
export const STATEMENT_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The distribution of durations, one series of a histogram. prom-client's own would look its labels up for each value,
 * which takes a hundred times as long (D-252).
 */
export class Durations {
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds in ascending order, in seconds */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > this.bounds[bucket]) bucket++;
    this.counts[bucket]++;
    this.sum += seconds;
  }

  /** The values of the series, as prom-client's registry takes them. */
  values(name: string, labels: Record<string, string>): MetricValueWithName<string>[] {
    let count = 0;
    const buckets = this.counts.map((own, bucket) => ({
      labels: { le: this.bounds[bucket] ?? '+Inf', ...labels },
      value: (count += own),
      metricName: `${name}_bucket`,
    }));
    return [
      ...buckets,
      { labels, value: this.sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}
