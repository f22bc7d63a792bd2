import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { countStatuses, times, waitFor } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

/** Milliseconds in which even a busy machine makes a page of six megabytes. */
const LIMIT = 4_000;
const MEBIBYTE = 1024 * 1024;

/** A client that reads when it likes. */
class Reader {
  length = 0;
  ended = false;
  private beginning?: string;

  private constructor(private readonly socket: Socket) {
    socket.on('error', () => undefined).on('close', () => (this.ended = true));
  }

  static open(port: number, requests: string): Promise<Reader> {
    const socket = connect({ port, host: '127.0.0.1' });
    const reader = new Reader(socket.pause());
    return new Promise((resolve) =>
      socket.once('connect', () => {
        socket.write(requests);
        resolve(reader);
      }),
    );
  }

  /** Reads so much, if that has come, and no more. */
  read(bytes: number): void {
    this.length += ((this.socket.read(bytes) ?? this.socket.read()) as Buffer | null)?.length ?? 0;
  }

  /** What the answer begins with, once that has come. */
  get status(): number | undefined {
    this.beginning ??= (this.socket.read(12) as Buffer | null)?.toString();
    return this.beginning === undefined ? undefined : Number(this.beginning.slice(9));
  }

  /** What has come of the rest. */
  text(): string {
    return String(this.socket.read());
  }

  /** Reads what there still is, to the end of the connection. */
  async readAll(): Promise<number> {
    this.socket.on('data', (chunk) => (this.length += chunk.length)).resume();
    await waitFor(() => this.ended);
    return this.length;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

describe('An answer that its client does not read', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: String(LIMIT) } });
  const ofAborted = () => api.app.log.filter(({ aborted }) => aborted === true);

  beforeAll(async () => {
    const own = new Fixtures(api, await api.user());
    await own.post({ content: 'x'.repeat(50_000) });
    for (let index = 0; index < 39; index++) await own.post({ content: '漢'.repeat(50_000) });
  });

  beforeEach(() => (api.app.log.length = 0));

  const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  const posts = get('/api/v1/posts?size=100');

  it('is larger than what the system keeps', async () => {
    expect((await api.get('/posts?size=100')).text.length).toBeGreaterThan(1.9 * MEBIBYTE);
    const reader = await Reader.open(api.app.port, get('/api/v1/posts?size=100', 'Connection: close\r\n'));
    expect(await reader.readAll()).toBeGreaterThan(5.5 * MEBIBYTE);
  });

  it('is broken off after the limit', async () => {
    const reader = await Reader.open(api.app.port, posts);
    const start = performance.now();
    await waitFor(() => ofAborted().length === 1);
    expect(performance.now() - start).toBeGreaterThan(LIMIT * 0.9);
    expect(await reader.readAll()).toBeLessThan(5 * MEBIBYTE);
  });

  it('is broken off as well when it is compressed, or one of many small ones', async () => {
    const readers = await Promise.all([
      Reader.open(api.app.port, get('/api/v1/posts?size=1').repeat(400)),
      Reader.open(api.app.port, get('/docs/json').repeat(200)),
    ]);
    // The last piece of a small answer is with the system, so the log doesn't call it aborted.
    const atLimit = () => api.app.log.filter(({ ms }) => (ms as number) > LIMIT * 0.9);
    await waitFor(() => atLimit().length >= readers.length);
    await Promise.all(readers.map((reader) => reader.readAll()));
  });

  it('is broken off when somebody reads a few bytes of it now and then', async () => {
    const reader = await Reader.open(api.app.port, posts);
    const reading = setInterval(() => reader.read(10), LIMIT / 10);
    try {
      await waitFor(() => ofAborted().length === 1, 10 * LIMIT);
    } finally {
      clearInterval(reading);
      reader.destroy();
    }
  });

  it('comes whole to whoever reads it slowly, but in earnest', async () => {
    const { length } = Buffer.from((await api.get('/posts?size=100')).text);
    const reader = await Reader.open(api.app.port, posts);
    const start = performance.now();
    while (reader.length < length && !reader.ended) {
      await sleep(LIMIT / 20);
      reader.read(128 * 1024);
    }
    expect(performance.now() - start).toBeGreaterThan(LIMIT * 1.5);
    expect(reader.length).toBeGreaterThan(length);
    expect(ofAborted()).toEqual([]);
    reader.destroy();
  });
});

describe('Answers that many clients do not read', () => {
  const api = useTestApi();

  it('fill no memory: large ones are 503 then, and small ones are sent', async () => {
    const own = new Fixtures(api, await api.user());
    for (let index = 0; index < 40; index++) await own.post({ content: '漢'.repeat(50_000) });
    const posts = 'GET /api/v1/posts?size=100 HTTP/1.1\r\nHost: x\r\n\r\n';
    const readers = await Promise.all(times(30, () => Reader.open(api.app.port, posts)));
    await waitFor(() => readers.every((reader) => reader.status !== undefined));

    const counts = countStatuses(readers.map(({ status }) => ({ status: status! })));
    expect(counts[200]).toBeGreaterThanOrEqual(4);
    expect(counts[503]).toBeGreaterThan(0);
    expect(counts[200] + counts[503]).toBe(30);
    const refused = readers.find(({ status }) => status === 503)!;
    expect(refused.text()).toMatch(/\r\nRetry-After: 1\r\n.*"code":"SERVICE_UNAVAILABLE"/s);
    const small = await Promise.all(times(5, () => api.get('/posts?size=1&fields=id')));
    expect(countStatuses(small)).toEqual({ 200: 5 });
    readers.forEach((reader) => reader.destroy());
    await waitFor(async () => (await api.get('/posts?size=100')).status === 200);
  });
});
