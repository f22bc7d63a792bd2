import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { BoundedQueue, type Queued } from '../limits/bounded-queue';
import { queueKeysOf } from '../limits/client-network';
import { acceptQueueDrained } from '../server/accept-queue';

/** Connections that may wait for an attendant. Beyond it, the network with most of them loses its latest. */
const MAX_WAITING = 10_000;

interface Waiting extends Queued {
  connection: Socket;
}

/** Takes connections over. */
export interface Attendant {
  /** Whether it can't take another connection yet. */
  readonly isBusy: boolean;
  /** @param onTaken called when it can take another one */
  take: (connection: Socket, onTaken: () => void) => void;
}

/**
 * Accepts connections and passes them on to worker processes. node:cluster has its own acceptor, but that closes
 * together with its last worker, and resets the connections that wait then.
 *
 * Passing a connection on takes longer than accepting it, so connections wait here, where networks take turns. In the
 * channel to a worker they would delay all other messages, and everybody behind a client that connects again and again.
 */
export class ConnectionAcceptor {
  private readonly server: Server;
  /** The first has its turn next. */
  private readonly attendants: Attendant[] = [];
  private readonly queue: BoundedQueue<Waiting>;
  private latest = -Infinity;
  private held = false;
  private ended = false;

  /** @param maxWaiting how many connections may wait */
  constructor(maxWaiting = MAX_WAITING) {
    this.queue = new BoundedQueue(maxWaiting);
    // What a client sends before its connection has an attendant is left for the attendant to read.
    this.server = createServer({ pauseOnConnect: true }, (connection) => {
      this.latest = performance.now();
      // A connection without an address was reset before it was accepted.
      if (connection.remoteAddress === undefined) connection.destroy();
      else this.assign(connection);
    });
  }

  /** Resolves to the port. */
  async open(port: number, host: string | undefined): Promise<number> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Adds an attendant, which gets its share of connections from now on. */
  add(attendant: Attendant): void {
    this.attendants.push(attendant);
    this.assignWaiting();
  }

  /** @param returned connections that the attendant was given and has not taken */
  remove(attendant: Attendant, returned: Iterable<Socket> = []): void {
    const index = this.attendants.indexOf(attendant);
    if (index >= 0) this.attendants.splice(index, 1);
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
    // All at once: the attendants end when they have been given the last one.
    this.ended = true;
    this.assignWaiting();
  }

  /**
   * Assigns a connection to the attendant whose turn it is. Without one, e.g. after all workers have crashed, the
   * connection waits.
   */
  private assign(connection: Socket): void {
    // The address is remembered by the connection, and stays the same when it is reset.
    const keys = queueKeysOf(connection.remoteAddress);
    const refuse = () => void connection.destroy();
    if (this.queue.add({ connection, keys, refuse })) this.assignWaiting();
    else refuse();
  }

  private assignWaiting(): void {
    while (!this.held && this.queue.size > 0) {
      const next = this.attendants.findIndex(({ isBusy }) => this.ended || !isBusy);
      if (next < 0) return;
      const [attendant] = this.attendants.splice(next, 1);
      this.attendants.push(attendant);
      attendant.take(this.queue.next()!.connection, () => this.assignWaiting());
    }
  }
}
