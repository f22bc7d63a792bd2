import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between the application and its database, so that a test can cut the wire. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private refusing = false;
  private readonly server = createServer((client) => this.forward(client));
  private target: URL;

  /** Returns the URL of the same database through the proxy. */
  async start(url: string): Promise<string> {
    this.target = new URL(url);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const proxied = new URL(url);
    proxied.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return proxied.href;
  }

  /** Cuts all connections, and new ones as soon as they are made. */
  refuse(): void {
    this.refusing = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  accept(): void {
    this.refusing = false;
  }

  stop(): void {
    this.refuse();
    this.server.close();
  }

  private forward(client: Socket): void {
    if (this.refusing) return void client.resetAndDestroy();
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      this.sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => this.sockets.delete(one));
      one.pipe(other);
    }
  }
}
