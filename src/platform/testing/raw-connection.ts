import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** By lower-case names. Of repeated headers the last one counts. */
  headers: Record<string, string>;
  text: string;
}

/** The number of received bytes that a failure quotes. */
const SHOWN = 10_000;
const DEFAULT_PATIENCE_MS = 30_000;

/** A connection on which a test writes arbitrary bytes. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private ended = false;
  /** True after a HEAD, whose answer has a length but no body. */
  private bodiless = false;
  private changed: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.changed();
    });
    // A reset counts like any other end: what was received before it matters.
    socket.on('error', () => undefined);
    const end = () => {
      this.ended = true;
      this.changed();
    };
    socket.on('end', end).on('close', end);
  }

  static async open(port: number): Promise<RawConnection> {
    // Without a delay, so that each write is a packet.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const connection = new RawConnection(socket);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  write(data: string | Uint8Array): this {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : Buffer.from(data);
    this.bodiless ||= bytes.subarray(0, 5).toString() === 'HEAD ';
    this.socket.write(bytes);
    return this;
  }

  /** Stops reading. */
  pause(): this {
    this.socket.pause();
    return this;
  }

  /** Starts reading again. */
  resume(): this {
    this.socket.resume();
    return this;
  }

  /** Reads the beginning of the answer only. */
  async stall(patience = DEFAULT_PATIENCE_MS): Promise<void> {
    await this.until(() => this.received.length > 0, patience);
    this.pause();
  }

  /** Ends the sending side. Answers may still arrive. */
  end(): this {
    this.socket.end();
    return this;
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Resets the connection, like a client that crashed. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Resolves to the answers when `count` are complete. Rejects when the time is up. */
  async answers(count: number, patience = DEFAULT_PATIENCE_MS): Promise<RawAnswer[]> {
    await this.until(() => this.parsed().length >= count, patience);
    return this.parsed();
  }

  async answer(patience?: number): Promise<RawAnswer> {
    return (await this.answers(1, patience))[0];
  }

  /** Resolves to all answers when the server has closed the connection. */
  async allAnswers(patience = DEFAULT_PATIENCE_MS): Promise<RawAnswer[]> {
    await this.until(() => this.ended, patience);
    return this.parsed();
  }

  async closed(patience = DEFAULT_PATIENCE_MS): Promise<void> {
    await this.until(() => this.ended, patience);
  }

  private parsed(): RawAnswer[] {
    return parseAnswers(this.received, { ended: this.ended, bodiless: this.bodiless });
  }

  private async until(condition: () => boolean, patience: number): Promise<void> {
    const deadline = AbortSignal.timeout(patience);
    deadline.addEventListener('abort', () => this.changed(), { once: true });
    while (!condition()) {
      if (this.ended || deadline.aborted) {
        const state = this.ended ? 'closed' : 'open';
        const { length } = this.received;
        const text = this.received.toString('latin1', 0, SHOWN);
        throw new Error(`The connection is ${state} after ${length} bytes: ${JSON.stringify(text)}`);
      }
      await new Promise<void>((resolve) => (this.changed = resolve));
    }
  }
}

/** Sends bytes on a new connection and returns the first answer. */
export async function sendRaw(port: number, data: string | Uint8Array): Promise<RawAnswer> {
  const connection = await RawConnection.open(port);
  try {
    return await connection.write(data).answer();
  } finally {
    connection.destroy();
  }
}

/** The complete responses at the start of the bytes; throws if they aren't HTTP. */
function parseAnswers(bytes: Buffer, { ended, bodiless }: { ended: boolean; bodiless: boolean }): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const head = rest.indexOf('\r\n\r\n');
    if (head < 0) {
      if (ended) throw new Error(`Not an HTTP response: ${JSON.stringify(rest.toString('latin1').slice(0, 500))}`);
      break;
    }
    const { status, headers } = parseHead(rest.subarray(0, head).toString('latin1'));
    const body = takeBody(rest.subarray(head + 4), bodiless ? 204 : status, headers);
    if (!body) break;
    answers.push({ status, headers, text: body.text });
    rest = body.rest;
  }
  return answers;
}

function parseHead(text: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first, ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) \S/.exec(first)?.[1];
  if (!status) throw new Error(`Not a status line: ${JSON.stringify(first.slice(0, 500))}`);
  const headers = lines.map((line) => {
    const [, name, value] = /^([^:\s]+): ?(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`Not a header: ${JSON.stringify(line)}`);
    return [name.toLowerCase(), value];
  });
  return { status: Number(status), headers: Object.fromEntries(headers) as Record<string, string> };
}

function takeBody(bytes: Buffer, status: number, headers: Record<string, string>) {
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(bytes);
  const length = status < 200 || status === 204 || status === 304 ? 0 : Number(headers['content-length']);
  if (Number.isNaN(length)) throw new Error(`A response without a length: ${JSON.stringify(headers)}`);
  if (bytes.length < length) return undefined;
  return { text: bytes.subarray(0, length).toString(), rest: bytes.subarray(length) };
}

function takeChunks(bytes: Buffer) {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = parseInt(bytes.subarray(at, line).toString(), 16);
    if (bytes.length < line + size + 4) return undefined;
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + size + 4;
    if (size === 0) return { text: Buffer.concat(chunks).toString(), rest: bytes.subarray(at) };
  }
}
