import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Has a server listen on loopback. Returns a URL that leads to it instead of to its own host. */
export async function listenInsteadOf(url: string, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxied.href;
}

/** A proxy between the application and a server, with which a test can cut the connection. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  /** Handles new connections instead of the server. */
  private meet: ((client: Socket) => void) | undefined;
  /** The first message of each client, which identifies it. */
  private readonly said = new Map<Socket, string>();
  private readonly muted = new Set<Socket>();
  /** Withholds answers to requests that contain this text. */
  private held: string | undefined;
  private readonly holding = new Map<Socket, Socket>();
  /** What follows the answer to a request that contains a text. */
  private last: { text: string; bytes: Buffer } | undefined;
  private readonly server = createServer((client) => this.forward(client));
  private target: URL;

  /** Returns the URL of the same database through the proxy. */
  start(url: string): Promise<string> {
    this.target = new URL(url);
    return listenInsteadOf(url, this.server);
  }

  /** Cuts all connections, and new ones at once. */
  refuse(): void {
    this.impersonate((client) => client.resetAndDestroy());
  }

  /** Cuts all connections, and answers new ones instead of the server. */
  impersonate(server: (client: Socket) => void): void {
    this.meet = server;
    this.cut();
  }

  /** Accepts connections and data, but passes nothing on in either direction. */
  fallSilent(): void {
    this.meet = (client) => client.resume();
    for (const socket of this.sockets) socket.unpipe().resume();
  }

  /** Works again for new connections. Data that was sent meanwhile is lost. */
  accept(): void {
    for (const socket of this.muted) socket.resetAndDestroy();
    if (!this.meet) return;
    this.meet = undefined;
    this.cut();
  }

  /** Stops passing data of clients whose first message contains a text, as if the network had failed silently. */
  mute(text: string): void {
    for (const [client, said] of this.said) {
      if (!said.includes(text)) continue;
      client.unpipe().pause();
      this.muted.add(client);
    }
  }

  /** Passes requests on, but withholds the server's answers to requests that contain a text. */
  holdAnswersTo(text: string): void {
    this.held = text;
  }

  /** The number of clients that wait for a withheld answer. */
  get waiting(): number {
    return this.holding.size;
  }

  /** Sends bytes with the end of the answer to the next request that contains a text, and hangs up. */
  endAfterAnswerTo(text: string, bytes: Buffer): void {
    this.last = { text, bytes };
  }

  /** Passes withheld answers on. */
  passAnswers(): void {
    this.held = undefined;
    for (const [client, server] of this.holding) server.pipe(client);
    this.holding.clear();
  }

  stop(): void {
    this.refuse();
    this.server.close();
  }

  private forward(client: Socket): void {
    if (this.meet) {
      this.sockets.add(client);
      client.on('error', () => undefined).on('close', () => this.sockets.delete(client));
      return this.meet(client);
    }
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      this.sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => this.sockets.delete(one));
      one.pipe(other);
    }
    // Runs before the server gets the request.
    client.prependListener('data', (bytes: Buffer) => {
      if (this.last && bytes.includes(this.last.text)) this.endAfterAnswer(client, server, this.last.bytes);
      if (this.held === undefined || !bytes.includes(this.held)) return;
      server.unpipe(client);
      this.holding.set(client, server);
    });
    client.once('data', (bytes: Buffer) => this.said.set(client, bytes.toString('latin1')));
    client.on('close', () => {
      this.said.delete(client);
      this.holding.delete(client);
      if (this.muted.delete(client)) server.destroy();
    });
  }

  /** The answer and the bytes are one packet, so that the client reads both at once. */
  private endAfterAnswer(client: Socket, server: Socket, bytes: Buffer): void {
    this.last = undefined;
    const end = (answer: Buffer) => client.end(Buffer.concat([answer, bytes]));
    server.unpipe(client).once('data', end).resume();
  }

  private cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }
}
