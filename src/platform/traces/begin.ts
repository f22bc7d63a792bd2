import { isTraced } from '../config/trace-settings';
import type { Traces } from './traces';

/** The traces of this process; undefined without OTEL_EXPORTER_OTLP_ENDPOINT, and then nothing of them is loaded. */
export const traces: Traces | undefined = isTraced() ? begin() : undefined;

function begin(): Traces {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { Traces } = require('./traces') as typeof import('./traces');
  return new Traces();
}
