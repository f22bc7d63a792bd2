import { type Server, type ServerResponse } from 'node:http';
import { Server as TcpServer } from 'node:net';

/** How long an idle connection may stay open for the request that its client may be sending just now, in milliseconds. */
const IDLE_GRACE = 2_000;
/** How long a request may still take, in milliseconds; longer than any request time-out. */
const LAST_RESORT = 40_000;

/**
 * Stops a server without losing a request. `server.close()` would end idle keep-alive connections at once, and a request
 * that is on its way on one of them would be reset: here each connection first gets to send its next request, and is told
 * in the answer that it was the last.
 */
export class Drain {
  begun = false;
  private closed: Promise<void> | undefined;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_request, response: ServerResponse) => {
      if (this.begun) response.setHeader('Connection', 'close');
    });
  }

  /** No new connections from here on, and none is kept alive. */
  begin(): void {
    if (this.begun || !this.server.listening) return;
    // Not http.Server's own close, which ends the idle connections. First, so that nobody waits to be accepted.
    this.closed = new Promise((resolve) => TcpServer.prototype.close.call(this.server, () => resolve()));
    this.begun = true;
  }

  /** Resolves when the last connection has ended. */
  async finish(): Promise<void> {
    this.begin();
    const idle = setTimeout(() => this.server.closeIdleConnections(), IDLE_GRACE);
    const last = setTimeout(() => this.server.closeAllConnections(), LAST_RESORT);
    await this.closed;
    clearTimeout(idle);
    clearTimeout(last);
  }
}
