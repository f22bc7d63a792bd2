import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { untilNobodyWaits } from '../server/accept-queue';

/** Takes a connection on. */
export type Attendant = (connection: Socket) => void;

/**
 * The port of a service whose requests others answer. node:cluster has one as well, but closes it together with its last
 * worker, and resets the connections that wait there by then.
 */
export class Entrance {
  private readonly server: Server;
  private readonly attendants: Attendant[] = [];
  private readonly waiting: Socket[] = [];
  private latest = -Infinity;
  private held = false;

  constructor() {
    // What a client sends before it has an attendant is left for that one to read.
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

  /** Its share of the connections is for this one from now on. */
  add(attendant: Attendant): void {
    this.attendants.push(attendant);
    if (!this.held) this.assignWaiting();
  }

  /** @param returned connections that it was given and has never taken */
  remove(attendant: Attendant, returned: Iterable<Socket> = []): void {
    const index = this.attendants.indexOf(attendant);
    if (index >= 0) this.attendants.splice(index, 1);
    for (const connection of returned) this.assign(connection);
  }

  /**
   * Refuses connections from now on; those that came before are all assigned. Meanwhile none is, as clients that are
   * answered would come with new ones all the time.
   */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    this.held = true;
    await untilNobodyWaits(() => this.latest);
    this.server.close();
    this.held = false;
    this.assignWaiting();
  }

  /** In turn. When there is nobody, as after a crash of all, it waits for the replacement. */
  private assign(connection: Socket): void {
    const attendant = this.held ? undefined : this.attendants.shift();
    if (!attendant) return void this.waiting.push(connection);
    this.attendants.push(attendant);
    attendant(connection);
  }

  private assignWaiting(): void {
    for (const connection of this.waiting.splice(0)) this.assign(connection);
  }
}
