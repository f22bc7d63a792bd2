import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import type { Request } from 'express';
import { isEventStream } from '../http/event-stream';
import { stopAtRequestsAhead, waitsForItsTurn } from './pipelining';
import { resetUnfinished } from './reset-unfinished';
import { boundSmallChunks } from './small-chunks';
import { SlotPool } from '../limits/slot-pool';
import { acceptQueueDrained } from './accept-queue';

/**
 * How long an idle connection stays open for a request that may be under way, and how long an endless answer continues,
 * in milliseconds.
 */
const IDLE_GRACE = 2_000;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Stops a server without losing a request. `server.close()` would close idle keep-alive connections at once, and reset
 * a request that is under way on one of them. Here each connection may send one more request, and its answer announces
 * the close.
 */
export class Drain {
  /** True when new connections are refused, and none is kept alive. */
  begun = false;
  /** The time that a request may still take, in milliseconds. */
  limit = 35_000;
  /** True if there may be connections, from its own port or from the primary's. */
  private open = false;
  private readonly connections = new SlotPool<Socket>();
  private readonly unanswered = new SlotPool<ServerResponse>();
  private held: (() => void)[] | undefined;
  private beginning: Promise<void> | undefined;
  private finishing: Promise<void> | undefined;
  private latest = -Infinity;

  constructor(
    private readonly server: Server,
    private readonly serve: Serve,
  ) {
    server.once('listening', () => (this.open = true));
    server.on('connection', (socket) => this.watch(socket));
    stopAtRequestsAhead(server);
    boundSmallChunks(server);
    // Socket.IO ends the server that it is attached to, before Nest does: Node would wait for idle connections and event
    // streams, which only finish() ends.
    const close: Server['close'] = (onClose) => {
      void this.finish().then(() => onClose?.());
      return server;
    };
    server.close = close;
    server.on('request', (request, response) => this.admit(request, response));
  }

  /** When the oldest unanswered request arrived that may wait for a shared read, by the clock of `performance`. */
  get oldestUnanswered(): number {
    let oldest = Infinity;
    for (const { req, writableEnded } of this.unanswered) {
      const { startedAt, readsSince = startedAt } = req as Partial<Request>;
      if (!writableEnded && readsSince !== undefined && readsSince < oldest) oldest = readsSince;
    }
    return oldest;
  }

  get unansweredCount(): number {
    return this.unanswered.size;
  }

  /** Refuses new connections. */
  begin(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return (this.beginning ??= this.stopListening());
  }

  /** Resolves when the last connection has ended. */
  finish(): Promise<void> {
    return (this.finishing ??= this.endAll());
  }

  private async endAll(): Promise<void> {
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

  /** Waits for the end of a connection. Resolves to false if there was none. */
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
    // A request that had to wait may be answered by now, if its body is malformed (see parser-errors.ts), or its client has gone.
    if (response.headersSent || response.closed) return;
    if (waitsForItsTurn(request, response, () => this.admit(request, response))) return;
    if (this.held) return void this.held.push(() => this.admit(request, response));
    const slot = this.unanswered.take(response);
    response.on('close', () => this.unanswered.clear(slot));
    if (this.begun) response.setHeader('Connection', 'close');
    resetUnfinished(request, response);
    this.serve(request, response);
  }

  /**
   * The system resets connections that wait to be accepted when the port is closed. So requests are held while the
   * waiting connections are accepted: clients that are answered would connect again all the time.
   */
  private async stopListening(): Promise<void> {
    this.held = [];
    await acceptQueueDrained(() => this.latest);
    // http.Server's own close() would close idle connections.
    TcpServer.prototype.close.call(this.server, () => undefined);
    this.begun = true;
    for (const response of this.unanswered) if (!response.headersSent) response.setHeader('Connection', 'close');
    const { held } = this;
    this.held = undefined;
    for (const admit of held) admit();
  }

  /** Ends event streams between two events. Their clients connect again. */
  private endEndless(): void {
    for (const response of this.unanswered) {
      if (!isEventStream(response)) continue;
      // The source of the stream may be about to write.
      response.on('error', () => undefined);
      response.end();
    }
  }

  /** Node's server doesn't know connections that another protocol has taken over. */
  private closeAll(): void {
    for (const socket of this.connections) socket.destroy();
  }

  /** Node considers a connection without a request as busy, such as browsers open in advance. */
  private closeIdle(): void {
    this.server.closeIdleConnections();
    for (const socket of this.connections) if (socket.bytesRead === 0) socket.destroy();
  }
}
