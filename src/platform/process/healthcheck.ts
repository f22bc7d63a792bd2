import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { environmentSettings } from '../config/read-settings';

const PATIENCE_MS = 2_500;

/** The HEALTHCHECK of the image: exit code 0 if the instance in this container is ready. */
function check(): void {
  const { PORT, TLS_CERT } = environmentSettings();
  // The certificate is for the public name, but the request goes to the loopback address.
  const options = { host: '127.0.0.1', port: PORT, path: '/health/ready', rejectUnauthorized: false };
  const request = (TLS_CERT ? getHttps : getHttp)({ ...options, timeout: PATIENCE_MS }, ({ statusCode }) =>
    process.exit(statusCode === 200 ? 0 : 1),
  );
  request.on('timeout', () => process.exit(1));
  request.on('error', () => process.exit(1));
}

check();
