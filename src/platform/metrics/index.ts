/** Loaded only with METRICS_PORT. */
export { MetricsServer } from './metrics-server';
export { processRegistry } from './process-registry';
export { type MetricSnapshot, registerRead, takeSnapshot } from './read-metric';
export { ServiceMetrics } from './service-metrics';
export { SumOfProcesses } from './sum-of-processes';
