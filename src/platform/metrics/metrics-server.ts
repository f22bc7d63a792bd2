import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { kibibytes, seconds } from '../units';
import { StartupError } from '../config/startup-error';

const PATH = '/metrics';
/** Few programs ask. The rest is dropped. */
const MAX_CONNECTIONS = 16;
/** How long a request and its answer may take, in milliseconds. Prometheus gives up after ten seconds. */
const PATIENCE = seconds(10);
const MAX_HEADERS = kibibytes(8);
const REASONS: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'needs more rights than this user has',
  EADDRNOTAVAIL: 'is not at an address of this machine',
};

/** Serves the metrics on a port of its own. */
export class MetricsServer {
  private readonly server: Server;
  /** The answer that is being made: all who ask meanwhile get the same. */
  private making: Promise<string> | undefined;

  /** @param text the metrics in the format of Prometheus */
  constructor(private readonly text: () => Promise<string>) {
    const limits = { maxHeaderSize: MAX_HEADERS, headersTimeout: PATIENCE, requestTimeout: PATIENCE };
    this.server = createServer({ ...limits, connectionsCheckingInterval: seconds(1) }, (request, response) => {
      void this.answer(request, response);
    });
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  /**
   * Resolves to the port. @throws {StartupError} when the port can't be had
   */
  async open(port: number, host: string): Promise<number> {
    this.server.listen(port, host);
    try {
      await once(this.server, 'listening');
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const reason = REASONS[code] ?? `can't be opened (${code})`;
      throw new StartupError(`METRICS_PORT ${port} of ${host} ${reason}; set METRICS_PORT or METRICS_HOST.`);
    }
    return (this.server.address() as AddressInfo).port;
  }

  /** Breaks off what is being answered: the service has ended. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = request.url!.split('?');
    if (path !== PATH) return end(response, 404);
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, { Allow: 'GET, HEAD' });
    // One who reads slowly must not hold a connection for ever.
    const timer = setTimeout(() => response.destroy(), PATIENCE);
    response.once('close', () => clearTimeout(timer));
    try {
      end(response, 200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }, await this.current());
    } catch {
      end(response, 500);
    }
  }

  private current(): Promise<string> {
    this.making ??= this.text().finally(() => (this.making = undefined));
    return this.making;
  }
}

function end(response: ServerResponse, status: number, headers: Record<string, string> = {}, body = ''): void {
  const isHead = response.req.method === 'HEAD';
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body), 'Cache-Control': 'no-store' });
  response.end(isHead ? undefined : body);
}
