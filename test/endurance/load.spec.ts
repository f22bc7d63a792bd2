import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';
import { listenInsteadOf } from '../support/tcp-proxy';

const NO_LIMIT = '1000000';

interface Run {
  code: number;
  output: string;
}

/** Runs the command, with as many seconds of load as a few dozen requests take. */
async function load(url: string, ...options: string[]): Promise<Run> {
  const args = ['-r', '@swc-node/register', 'scripts/load/main.ts', '--url', url, '--rate', '20', '--minutes', '0.1'];
  const child = spawn(process.execPath, [...args, '--users', '2', '--slow', '30000', ...options]);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => output.push(String(text)));
  const [code] = await once(child, 'close');
  return { code, output: output.join('') };
}

type Forward = (request: IncomingMessage, body: Buffer, key?: string) => Promise<Response>;

describe('npm run load', () => {
  const services = useServices({ keep: true });
  const api = useTestApi();
  let url: string;
  let proxy: Server | undefined;

  beforeAll(async () => {
    const settings = { NODE_ENV: 'test', LOG_LEVEL: 'info', REGISTRATION_RATE_LIMIT: NO_LIMIT, WRITE_QUOTA: '0' };
    const service = await services.start({
      ...settings,
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: services.newDirectory(),
    });
    url = service.url!;
  });

  afterEach(() => proxy?.closeAllConnections());
  afterEach(() => proxy?.close());

  /** A proxy before the service that breaks what it promises. @param meddle is called for each new post */
  async function meddling(meddle: (forward: Forward, request: IncomingMessage, body: Buffer) => Promise<Response>) {
    const forward: Forward = (request, body, key) => {
      const kept = ['authorization', 'content-type', 'if-match', 'idempotency-key'];
      const headers = kept.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : []));
      const all = { ...Object.fromEntries(headers), ...(key && { 'idempotency-key': key }) };
      const text = body.length > 0 ? body.toString() : undefined;
      return fetch(`${url}${request.url}`, { method: request.method, headers: all, body: text });
    };
    proxy = createServer((request, response) => {
      const answer = async () => {
        const body = await buffer(request);
        const isPost = request.method === 'POST' && request.url === '/api/v1/posts';
        const answered = await (isPost ? meddle(forward, request, body) : forward(request, body));
        // It has broken the connection off.
        if (request.socket.destroyed) return;
        response.writeHead(answered.status, { 'Content-Type': 'application/json' });
        response.end(Buffer.from(await answered.arrayBuffer()));
      };
      void answer();
    });
    return listenInsteadOf(url, proxy).then((other) => other.replace(/\/$/, ''));
  }

  it('finds nothing to complain of in a service that keeps its promises', async () => {
    const { code, output } = await load(url);

    expect(output).toContain('lost 0, doubled 0, wrong 0, never answered 0');
    expect([code, Number(/(\d+) requests at 20/.exec(output)?.[1]) > 100]).toEqual([0, true]);
  });

  it('finds writes that have two effects', async () => {
    const twice = await meddling(async (forward, request, body) => {
      await forward(request, body, `again-${String(request.headers['idempotency-key'])}`);
      return forward(request, body);
    });
    const { code, output } = await load(twice, '--reads', '20');

    expect(output).toMatch(/lost 0, doubled [1-9]/);
    expect(code).toBe(1);
  });

  it('finds writes that were acknowledged and are gone', async () => {
    const losing = await meddling(async (forward, request, body) => {
      const created = await forward(request, body);
      const { id } = (await created.clone().json()).data;
      const headers = { Authorization: String(request.headers.authorization) };
      await fetch(`${url}/api/v1/posts/${id}`, { method: 'DELETE', headers });
      return created;
    });
    const { code, output } = await load(losing);

    expect(output).toMatch(/lost [1-9]/);
    expect(code).toBe(1);
  });

  it('sends a request that broke off again, with the same key', async () => {
    let broken = 0;
    const breaking = await meddling(async (forward, request, body) => {
      const created = await forward(request, body);
      if (!created.headers.has('idempotent-replayed') && ++broken % 2 === 1) request.socket.destroy();
      return created;
    });
    const { code, output } = await load(breaking, '--reads', '20');

    expect(broken).toBeGreaterThan(5);
    expect(output).toContain('lost 0, doubled 0, wrong 0, never answered 0');
    expect([code, /failed attempts [1-9]/.test(output)]).toEqual([0, true]);
  });

  it.each([
    [['--rate', 'many'], '--rate must be a number from 0.1 to 10000'],
    [['--url', 'staging'], '--url must be a URL of http or https'],
    [['--rate', '10000', '--minutes', '600'], 'A run sends at most 2000000 requests'],
  ])('refuses %j', async (options, message) => {
    const { code, output } = await load(url, ...options);

    expect(output).toContain(message);
    expect(code).toBe(2);
  });
});
