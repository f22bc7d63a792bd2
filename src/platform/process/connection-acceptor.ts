import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { acceptQueueDrained } from '../server/accept-queue';

/** Takes over a connection. */
export type ConnectionHandler = (connection: Socket) => void;

/**
 * Accepts connections and passes them on to worker processes. node:cluster has its own acceptor, but that closes
 * together with its last worker, and resets the connections that wait then.
 */
export class ConnectionAcceptor {
  private readonly server: Server;
  private readonly handlers: ConnectionHandler[] = [];
  private readonly waiting: Socket[] = [];
  private latest = -Infinity;
  private held = false;

  constructor() {
    // What a client sends before its connection has a handler is left for the handler to read.
    this.server = createServer({ pauseOnConnect: true }, (connection) => {
      this.latest = performance.now();
      this.assign(connection);
    });
  }

  /** Resolves to the port. */
  async open(port: number, host: string | undefined): Promise<number> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Adds a handler, which gets its share of connections from now on. */
  add(attendant: ConnectionHandler): void {
    this.handlers.push(attendant);
    if (!this.held) this.assignWaiting();
  }

  /** @param returned connections that the handler was given and has not taken */
  remove(attendant: ConnectionHandler, returned: Iterable<Socket> = []): void {
    const index = this.handlers.indexOf(attendant);
    if (index >= 0) this.handlers.splice(index, 1);
    for (const connection of returned) this.assign(connection);
  }

  /**
   * Stops listening. Connections that came before are assigned at the end, not meanwhile, because clients that are
   * answered would keep coming with new ones.
   */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    this.held = true;
    await acceptQueueDrained(() => this.latest);
    this.server.close();
    this.held = false;
    this.assignWaiting();
  }

  /**
   * Assigns connections to handlers in turn. Without a handler, e.g. after all workers have crashed, the connection
   * waits.
   */
  private assign(connection: Socket): void {
    const attendant = this.held ? undefined : this.handlers.shift();
    if (!attendant) return void this.waiting.push(connection);
    this.handlers.push(attendant);
    attendant(connection);
  }

  private assignWaiting(): void {
    for (const connection of this.waiting.splice(0)) this.assign(connection);
  }
}
