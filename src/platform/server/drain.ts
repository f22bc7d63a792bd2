import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import type { Request } from 'express';
import { isEventStream } from '../http/event-stream';
import { stopAtRequestsAhead, waitsForItsTurn } from './pipelining';
import { boundSmallChunks } from './small-chunks';
import { SlotPool } from '../limits/slot-pool';
import { untilNobodyWaits } from './accept-queue';

/**
 * How long an idle connection may stay open for the request that its client may be sending just now, and an answer that
 * would never end, in milliseconds.
 */
const IDLE_GRACE = 2_000;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Stops a server without losing a request. `server.close()` would end idle keep-alive connections at once, and a request
 * that is on its way on one of them would be reset: here each connection first gets to send its next request, and is told
 * in the answer that it was the last.
 */
export class Drain {
  /** New connections are refused, and none is kept alive. */
  begun = false;
  /** How long a request may still take, in milliseconds. */
  limit = 35_000;
  /** Whether there may be connections, by a port of its own or by another's. */
  private open = false;
  private readonly connections = new SlotPool<Socket>();
  private readonly unanswered = new SlotPool<ServerResponse>();
  private held: (() => void)[] | undefined;
  private beginning: Promise<void> | undefined;
  private latest = -Infinity;

  constructor(
    private readonly server: Server,
    private readonly serve: Serve,
  ) {
    server.once('listening', () => (this.open = true));
    server.on('connection', (socket) => this.watch(socket));
    stopAtRequestsAhead(server);
    boundSmallChunks(server);
    server.on('request', (request, response) => this.admit(request, response));
  }

  /** When the oldest request arrived whose answer hasn't begun to leave, by the clock of `performance`. */
  get oldestUnanswered(): number {
    let oldest = Infinity;
    for (const { req, writableEnded } of this.unanswered) {
      const { startedAt } = req as Partial<Request>;
      if (!writableEnded && startedAt !== undefined && startedAt < oldest) oldest = startedAt;
    }
    return oldest;
  }

  /** Refuses new connections from here on. */
  begin(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return (this.beginning ??= this.stopListening());
  }

  /** Resolves when the last connection has ended. */
  async finish(): Promise<void> {
    await this.begin();
    const sweep = setInterval(() => {
      this.endEndless();
      this.closeIdle();
    }, IDLE_GRACE);
    const last = setTimeout(() => this.closeAll(), this.limit);
    while (await this.nextEnd());
    clearInterval(sweep);
    clearTimeout(last);
  }

  /** Resolves to whether there was a connection that could end. */
  private async nextEnd(): Promise<boolean> {
    const [connection] = this.connections;
    if (connection) await once(connection, 'close');
    return Boolean(connection);
  }

  private watch(socket: Socket): void {
    this.latest = performance.now();
    const slot = this.connections.take(socket);
    socket.once('close', () => this.connections.clear(slot));
  }

  private admit(request: IncomingMessage, response: ServerResponse): void {
    // The body of one that had to wait may be malformed, which is answered at once: see parser-errors.ts.
    if (response.headersSent) return;
    if (waitsForItsTurn(request, response, () => this.admit(request, response))) return;
    if (this.held) return void this.held.push(() => this.admit(request, response));
    const slot = this.unanswered.take(response);
    response.on('close', () => this.unanswered.clear(slot));
    if (this.begun) response.setHeader('Connection', 'close');
    this.serve(request, response);
  }

  /**
   * The system resets a connection that waits to be accepted when its port is closed. So requests are left alone for the
   * moment that it takes to accept those that wait: answered clients would come with new ones all the time.
   */
  private async stopListening(): Promise<void> {
    this.held = [];
    await untilNobodyWaits(() => this.latest);
    // Not http.Server's own close, which ends the idle connections.
    TcpServer.prototype.close.call(this.server, () => undefined);
    this.begun = true;
    for (const response of this.unanswered) if (!response.headersSent) response.setHeader('Connection', 'close');
    const { held } = this;
    this.held = undefined;
    for (const admit of held) admit();
  }

  /** An answer that goes on for as long as its client likes is cut, between two events; such a client connects again. */
  private endEndless(): void {
    for (const response of this.unanswered) {
      if (!isEventStream(response)) continue;
      // Its source may be about to write.
      response.on('error', () => undefined);
      response.end();
    }
  }

  /** Not by the server, which knows no connection that another protocol has taken over. */
  private closeAll(): void {
    for (const socket of this.connections) socket.destroy();
  }

  /** Node takes a connection on which nothing was sent yet, such as browsers open in advance, for a busy one. */
  private closeIdle(): void {
    this.server.closeIdleConnections();
    for (const socket of this.connections) if (socket.bytesRead === 0) socket.destroy();
  }
}
