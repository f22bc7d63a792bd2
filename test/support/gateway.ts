import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GatewayRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** What the gateway does instead of passing a request and its answer on. */
export type Fault =
  /** Breaks the connection before the service gets the request, after it has answered, or in the middle of the answer. */
  | 'before'
  | 'after'
  | 'midway'
  /** Never answers. */
  | 'silence'
  /** Answers itself. */
  | { status: number; headers?: Record<string, string>; body?: string };

/** A proxy before the service that does to each request what a test says. */
export class Gateway {
  readonly requests: GatewayRequest[] = [];
  /** Decides about each request. */
  faultOf: (request: GatewayRequest) => Fault | undefined = () => undefined;
  private readonly server = createServer((request, response) => void this.handle(request, response));

  /** @param service the URL that requests are passed on to */
  constructor(private readonly service: () => string) {}

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Does these to the next requests, one to each, and forgets the requests until now. */
  next(...faults: (Fault | undefined)[]): void {
    this.requests.length = 0;
    this.faultOf = () => faults.shift();
  }

  /** What the service was asked since {@link next}: `POST /orders`. */
  get asked(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path.replace(/^\/api\/v\d/, '')}`);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await requestOf(incoming);
    this.requests.push(request);
    const fault = this.faultOf(request);
    if (fault === 'silence') return;
    if (fault === 'before') return void incoming.socket.destroy();
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const answer = await this.pass(request).catch(() => undefined);
    // The service may close a connection just when it is used again.
    if (fault === 'after' || !answer) return void incoming.socket.destroy();
    response.writeHead(answer.status, answer.headers);
    if (fault !== 'midway') return void response.end(answer.body);
    response.write(answer.body.subarray(0, answer.body.length / 2), () => incoming.socket.destroy());
  }

  private async pass({ method, path, headers, body }: GatewayRequest) {
    const passed = Object.entries(headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name));
    const answer = await fetch(this.service() + path, {
      method,
      headers: Object.fromEntries(passed) as Record<string, string>,
      body: body === '' ? undefined : body,
    });
    const kept = [...answer.headers].filter(
      ([name]) => !/^(connection|content-encoding|transfer-encoding)$/.test(name),
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    const length = bytes.length > 0 ? { 'content-length': String(bytes.length) } : {};
    return { status: answer.status, headers: { ...Object.fromEntries(kept), ...length }, body: bytes };
  }
}

async function requestOf(incoming: IncomingMessage): Promise<GatewayRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method!,
    path: incoming.url!,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

/** A gateway before the application of a test file. */
export function useGateway(service: () => string): Gateway {
  const gateway = new Gateway(service);
  beforeAll(() => gateway.start());
  afterEach(() => gateway.next());
  afterAll(() => gateway.stop());
  return gateway;
}
