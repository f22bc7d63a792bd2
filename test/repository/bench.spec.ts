import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

type Work = { title: string };
type Check = { text: string; isGood: boolean };
type Measure = (work: Work) => Promise<number | undefined>;
type CheckWorks = (works: Work[], committed: Map<string, number>, measure: Measure) => Promise<Check>;
type RatiosIn = (text: string, column: string) => Map<string, number>;
type Request = { method: string; path: string; headers: Record<string, string>; body: object };

const { checkWorks } = jest.requireActual<{ checkWorks: CheckWorks }>('../../bench/lib/check.mjs');
const { ratiosIn } = jest.requireActual<{ ratiosIn: RatiosIn }>('../../bench/lib/committed.mjs');
const { UNIQUE, versionMarker } = jest.requireActual<{
  UNIQUE: string;
  versionMarker: (first: number, step: number) => string;
}>('../../bench/lib/markers.mjs');

describe('npm run bench -- --check', () => {
  const works = [{ title: 'GET /rows' }];
  const committed = new Map([['GET /rows', 1]]);

  /** Ratios that are measured one after the other. */
  const measuring = (...ratios: (number | undefined)[]) => jest.fn(() => Promise.resolve(ratios.shift()));

  it('is good if a work keeps nine tenths of its ratio', async () => {
    const measure = measuring(0.91);

    expect(await checkWorks(works, committed, measure)).toMatchObject({ isGood: true });
    expect(measure).toHaveBeenCalledTimes(1);
  });

  it('measures a work that has lost more once more', async () => {
    expect(await checkWorks(works, committed, measuring(0.5, 0.95))).toMatchObject({ isGood: true });
    expect(await checkWorks(works, committed, measuring(undefined, 0.95))).toMatchObject({ isGood: true });
  });

  it('fails for a work that has lost more twice, or could not be measured', async () => {
    const { text, isGood } = await checkWorks(works, committed, measuring(0.5, 0.89));

    expect(text).toContain('LOST  GET /rows: 1 committed, 0.50 now, then 0.89 now');
    expect(isGood).toBe(false);
    expect(await checkWorks(works, committed, measuring(undefined, undefined))).toMatchObject({ isGood: false });
  });

  it('fails if there is nothing to compare', async () => {
    expect(await checkWorks(works, new Map(), measuring())).toMatchObject({ isGood: false });
  });

  it.each(['bench/RESULTS.md', 'bench/RESULTS.node20.md'])('reads the ratios of %s', (file) => {
    const ratios = ratiosIn(readFileSync(file, 'utf8'), 'Resource API');

    expect([...ratios.keys()]).toEqual(expect.arrayContaining(['GET /public', 'POST /products']));
    expect([...ratios.values()].every((ratio) => ratio > 0)).toBe(true);
    expect(ratiosIn(readFileSync(file, 'utf8'), 'L0: bare node:http').get('GET /public')).toBe(1);
  });
});

describe('A load at a fixed rate', () => {
  const file = join(process.env.TEST_DIRECTORY!, 'bench.requests');
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  async function listen(answer: (request: IncomingMessage) => Promise<void>): Promise<void> {
    server = createServer((request, response) => void answer(request).then(() => response.end('an answer')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  async function send(requests: Request[], { rate, seconds }: { rate: number; seconds: number }) {
    writeFileSync(file, requests.map((request) => `${serialised(request)}\0`).join(''));
    const env = {
      HOST: '127.0.0.1',
      PORT: String((server.address() as AddressInfo).port),
      REQUESTS: file,
      FIRST_NUMBER: '1795000000000000',
      RATE: String(rate),
      SECONDS: String(seconds),
      CONNECTIONS: '4',
    };
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/lib/open-loop.mjs'], { env });
    return JSON.parse(stdout) as {
      requests: number;
      refused: number;
      failures: number;
      unanswered: number;
      p50: number;
    };
  }

  const serialised = ({ method, path, headers, body }: Request) => {
    const content = JSON.stringify(body);
    const all = { ...headers, Host: 'localhost', 'Content-Length': content.length };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${content}`;
  };

  it('counts the wait of requests that a server which stands still has not even received', async () => {
    const stillFor = 600;
    let standsStill: Promise<unknown> | undefined;
    await listen(async () => void (await (standsStill ??= new Promise((over) => setTimeout(over, stillFor)))));

    const found = await send([{ method: 'GET', path: '/', headers: {}, body: {} }], { rate: 200, seconds: 1 });

    expect(found).toMatchObject({ requests: 200, refused: 0, failures: 0, unanswered: 0 });
    // Six of ten were due meanwhile. By the clock of the four connections it would be four of all.
    expect(found.p50).toBeGreaterThan(50);
  });

  it('sends each key once, and the version that a row has by then', async () => {
    const keys: unknown[] = [];
    const bodies: string[] = [];
    const versions: unknown[] = [];
    await listen(async (request) => {
      keys.push(request.headers['idempotency-key']);
      versions.push(request.headers['if-match']);
      bodies.push(await text(request));
    });
    const request = (version: number) => ({
      method: 'POST',
      path: '/rows',
      headers: { 'Idempotency-Key': UNIQUE, 'If-Match': versionMarker(version, 2) },
      body: { name: 'a row' },
    });

    await send([request(5), request(6)], { rate: 20, seconds: 0.3 });

    expect(new Set(keys).size).toBe(6);
    expect(keys.every((key) => /^\d{16}$/.test(String(key)))).toBe(true);
    expect([...versions].sort((a, b) => Number(a) - Number(b))).toEqual(['5', '6', '7', '8', '9', '10']);
    expect(new Set(bodies)).toEqual(new Set(['{"name":"a row"}']));
  });
});
