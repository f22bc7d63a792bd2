import { exchange } from './exchange';

type RequestHeaders = Record<string, string>;

/** Parsed JSON, which has any type. The expectations of the tests check its shape. */
type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON, otherwise text. */
  body: Json;
  text: string;
}

export interface SentRequest {
  method: string;
  url: URL;
  headers: RequestHeaders;
}

/** Sees each answer before the test does. It throws an error for an answer that must not be. */
export type Inspect = (request: SentRequest, answer: Answer) => void;

/** Sends requests as one caller. */
export class Client {
  constructor(
    private readonly base: () => string,
    private readonly headers: RequestHeaders = {},
    private readonly inspect: Inspect = () => undefined,
  ) {}

  get = (path: string, headers?: RequestHeaders) => this.send('GET', path, undefined, headers);
  head = (path: string, headers?: RequestHeaders) => this.send('HEAD', path, undefined, headers);
  options = (path: string, headers?: RequestHeaders) => this.send('OPTIONS', path, undefined, headers);
  post = (path: string, body?: unknown, headers?: RequestHeaders) => this.send('POST', path, body, headers);
  put = (path: string, body?: unknown, headers?: RequestHeaders) => this.send('PUT', path, body, headers);
  patch = (path: string, body?: unknown, headers?: RequestHeaders) => this.send('PATCH', path, body, headers);
  delete = (path: string, body?: unknown, headers?: RequestHeaders) => this.send('DELETE', path, body, headers);

  with(headers: RequestHeaders): Client {
    return new Client(this.base, { ...this.headers, ...headers }, this.inspect);
  }

  /** A client with further headers. The caller's own headers take precedence. */
  preferring(headers: RequestHeaders): Client {
    return new Client(this.base, { ...headers, ...this.headers }, this.inspect);
  }

  /**
   * Sends a request. Paths are relative to /api/v1, unless they start with two slashes, which stand for the root. A
   * text or bytes are sent as they are, and any other body as JSON.
   * @throws {Error} of {@link Inspect}
   */
  async send(method: string, path: string, body?: unknown, headers: RequestHeaders = {}): Promise<Answer> {
    const url = new URL(path.startsWith('//') ? this.base() + path.slice(1) : `${this.base()}/api/v1${path}`);
    const sent = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...this.headers, ...headers };
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const received = await exchange(method, url, sent, isRaw ? body : JSON.stringify(body));
    const { text } = received;
    const isJson = text !== '' && /\bjson\b/.test(received.headers.get('content-type') ?? '');
    const answer: Answer = { ...received, body: isJson ? JSON.parse(text) : text };
    this.inspect({ method, url, headers: sent }, answer);
    return answer;
  }
}
