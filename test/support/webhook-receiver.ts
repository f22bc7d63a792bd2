import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';

export interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  body: {
    type: string;
    timestamp: string;
    data: {
      type: string;
      id: number;
      change: string;
      version: number | null;
      at: string;
      resource: Record<string, unknown> | null;
    };
  };
  /** What was answered. */
  status: number;
}

type Answering = (received: Received, response: ServerResponse) => number | undefined | void;

/** A receiver of webhooks on the loopback address. It keeps what it has got, in the order of arrival. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** The status of an answer; undefined if it has answered itself, or never will. */
  answer: Answering = () => 204;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => receiver.take(request.headers, text, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Those that it has answered by 2xx. */
  get accepted(): Received[] {
    return this.received.filter(({ status }) => status >= 200 && status < 300);
  }

  /** Answers nothing from now on, until what is returned is called: an answer each, in the order of arrival. */
  hold(status = 204): (() => void)[] {
    const held: (() => void)[] = [];
    this.answer = (received, response) => void held.push(() => response.writeHead((received.status = status)).end());
    return held;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private take(headers: IncomingHttpHeaders, text: string, response: ServerResponse): void {
    const received = { headers, text, body: JSON.parse(text) as Received['body'], status: 0 };
    this.received.push(received);
    const status = this.answer(received, response);
    if (status === undefined) return;
    received.status = status;
    response.writeHead(status).end();
  }
}

/** Starts a receiver for the tests of a file. Each test begins with an empty one, which accepts everything. */
export function useReceiver(): { readonly current: WebhookReceiver } {
  let receiver: WebhookReceiver;
  beforeAll(async () => (receiver = await WebhookReceiver.start()));
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = () => 204;
  });
  afterAll(() => receiver.stop());
  return {
    get current() {
      return receiver;
    },
  };
}

/** Throws if no signature of the message is by this secret, as the library of Standard Webhooks says. */
export const verify = (secret: string, { text, headers }: Received): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>);

/** The settings of a service that may send to receivers of tests. */
export const TO_LOOPBACK = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
