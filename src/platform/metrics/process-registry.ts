import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { registerRead } from './read-metric';

/** The worst process counts, not the average of all. prom-client has `average`, and leaves the start out. */
const AGGREGATORS = {
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  process_start_time_seconds: 'min',
};

/** What every process has: memory, event loop, garbage collector, and which build it is. */
export function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const [name, aggregator] of Object.entries(AGGREGATORS)) {
    Object.assign(registry.getSingleMetric(name) ?? {}, { aggregator });
  }
  const labels = { version: versionOfBuild(__dirname), node: process.version };
  registerRead(registry, {
    name: 'api_build_info',
    help: 'Always 1: the labels tell the version of the service and of Node.',
    type: 'gauge',
    aggregator: 'first',
    read: () => [{ labels, value: 1 }],
  });
  return registry;
}

/** The version in package.json, which stands above the build. */
function versionOfBuild(folder: string): string {
  const path = join(folder, 'package.json');
  if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  return dirname(folder) === folder ? 'unknown' : versionOfBuild(dirname(folder));
}
