import { loadEnvFile } from 'node:process';

/**
 * Whether the service is traced. Asked before anything else is loaded, because the libraries that are traced are changed
 * while they are loaded; so `.env` is read here, too.
 */
export function isTraced(): boolean {
  try {
    // What the environment has wins, as in @nestjs/config.
    loadEnvFile();
  } catch {
    // There is none.
  }
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED = '' } = process.env;
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT) && OTEL_SDK_DISABLED.toLowerCase() !== 'true';
}

/** The addresses that traces may be sent to: `host:port`. */
export function traceReceivers(): string[] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
  return [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT].flatMap((url) =>
    url && URL.canParse(url) ? [hostAndPortOf(new URL(url))] : [],
  );
}

function hostAndPortOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
