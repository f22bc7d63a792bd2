import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, times, waitFor } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { type ServiceProcess, useServices } from '../support/service-process';
import { type TestUser, useTestApi } from '../support/test-api';
import { isLocked } from '../support/upload-lock';

const MEBIBYTE = 1024 * 1024;
const KILLS = 20;
/** Every so many kills it is in the middle of one long request rather than of one of many short ones. */
const LONG = 5;
/** The latest moment of a kill after what it waits for, in milliseconds. */
const LATEST_KILL = 50;
const SIZE = 96 * MEBIBYTE;
const PIECE = 256 * 1024;
const CHUNK = 64 * 1024;
/** Starting takes the time, so there is always another instance ready to go on. */
const SPARES = 2;

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Step {
  method: string;
  status: number;
  offset?: string;
  stored?: string;
  url: string;
}

describe('An upload', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0' } });
  const services = useServices();
  let user: TestUser;
  let headers: Record<string, string>;

  const settings = () => ({
    DATABASE_URL: api.app.databaseUrl,
    DATA_DIR: process.env.TEST_DIRECTORY!,
    MIN_FREE_DISK: '0',
    NODE_ENV: 'test',
  });

  beforeEach(async () => {
    user = await api.user();
    headers = { Authorization: `Bearer ${user.token}`, 'Tus-Resumable': '1.0.0' };
  });

  /** Returns its path. */
  async function create(url: string, size: number): Promise<string> {
    const all = { ...headers, 'Upload-Length': String(size) };
    return (await fetch(`${url}/api/v1/uploads`, { method: 'POST', headers: all })).headers.get('location')!;
  }

  async function offsetOf(url: string): Promise<number> {
    return Number((await fetch(url, { method: 'HEAD', headers })).headers.get('upload-offset'));
  }

  function append(url: string, offset: number, body: Uint8Array | Readable): Promise<Response> {
    const all = { ...headers, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) };
    const stream = body instanceof Readable ? (Readable.toWeb(body) as BodyInit) : (body as BodyInit);
    return fetch(url, { method: 'PATCH', headers: all, body: stream, duplex: 'half' } as RequestInit);
  }

  async function expectWhole(url: string, bytes: Uint8Array): Promise<void> {
    const { data } = (await (await fetch(url, { headers })).json()) as { data: object };
    expect(data).toMatchObject({ status: 'COMPLETE', checksum: sha256(bytes) });
    const content = await (await fetch(`${url}/content`, { headers })).arrayBuffer();
    expect(sha256(Buffer.from(content))).toBe(sha256(bytes));
  }

  const keyOf = (path: string) => path.split('/').at(-1)!;
  const fileOf = (path: string) => join(process.env.TEST_DIRECTORY!, 'uploads', keyOf(path));

  /** The head of a request that is to bring so many bytes, on a connection of its own. */
  async function beginToAppend(port: number, path: string, length: number): Promise<RawConnection> {
    const all = { Host: 'x', ...headers, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
    const lines = Object.entries({ ...all, 'Content-Length': length }).map(([name, value]) => `${name}: ${value}`);
    const connection = await RawConnection.open(port);
    return connection.write([`PATCH ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  }

  it('loses nothing that was acknowledged while its service is killed at any moment, and is whole in the end', async () => {
    const bytes = randomBytes(SIZE);
    const spares = times(SPARES, () => BuiltService.start(settings()));
    let service = await spares.shift()!;
    const path = await create(service.url, SIZE);
    const here = () => service.url + path;
    let acknowledged = 0;

    async function* from(offset: number, end: number) {
      for (let at = offset; at < end; at += CHUNK) {
        yield bytes.subarray(at, Math.min(at + CHUNK, end));
        await sleep(1);
      }
    }
    async function send(offset: number, size: number): Promise<void> {
      for (let at = offset; at < SIZE; at += size) {
        const answer = await append(here(), at, Readable.from(from(at, Math.min(at + size, SIZE))));
        if (answer.status !== 204) throw new Error(await answer.text());
        acknowledged = Number(answer.headers.get('upload-offset'));
      }
    }

    try {
      for (let kill = 0; kill < KILLS; kill++) {
        spares.push(BuiltService.start(settings()));
        const before = acknowledged;
        const long = kill % LONG === 0;
        const sending = send(before, long ? SIZE : PIECE).catch(() => undefined);
        const moved = async () => (long ? await offsetOf(here()) : acknowledged) > before;
        await waitFor(moved, 60_000);
        await sleep(Math.random() * LATEST_KILL);
        await service.stop();
        await sending;
        service = await spares.shift()!;
        const offset = await offsetOf(here());
        expect(offset).toBeGreaterThanOrEqual(acknowledged);
        expect(offset).toBeGreaterThan(before);
        acknowledged = offset;
      }
      expect(acknowledged).toBeLessThan(SIZE);
      await send(acknowledged, SIZE);
      await expectWhole(here(), bytes);
    } finally {
      await service.stop();
      for (const spare of spares) await (await spare).stop();
    }
  }, 480_000);

  it('goes on where the service says when its client is killed and started again', async () => {
    const bytes = randomBytes(24 * MEBIBYTE);
    const file = join(services.newDirectory(), 'file');
    writeFileSync(file, bytes);
    let url = '';
    /** Until it has sent so much of it; returns what it asked. */
    async function run(sent: number): Promise<Step[]> {
      const endpoint = `${api.url}/api/v1/uploads`;
      const child = spawn(process.execPath, ['test/support/tus-client.mjs', file, endpoint, user.token, url]);
      const ended = once(child, 'exit');
      const steps: Step[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        steps.push(JSON.parse(line) as Step);
        // In the middle of the next chunk.
        if (Number(steps.at(-1)!.stored) >= sent) child.kill('SIGKILL');
      }
      await ended;
      url = steps.find((step) => step.url)!.url;
      return steps;
    }

    let stored = 0;
    for (const sent of [4, 9, 15, Infinity]) {
      const [asked, ...steps] = await run(sent * MEBIBYTE);
      expect(asked.method).toBe(stored === 0 ? 'POST' : 'HEAD');
      const first = steps.find(({ method, status }) => method === 'PATCH' && status === 204)!;
      expect(Number(first.offset)).toBeGreaterThanOrEqual(stored);
      stored = Number(steps.at(-1)!.stored);
    }
    expect(stored).toBe(bytes.length);
    await expectWhole(url, bytes);
  }, 240_000);

  it('has one writer at a time, whichever process they come to', async () => {
    const service = await services.start({ ...settings(), PROCESSES: '2' });
    const bytes = randomBytes(MEBIBYTE);
    const path = await create(service.url!, bytes.length);
    const writer = await beginToAppend(service.port, path, bytes.length);
    writer.write(bytes.subarray(0, 1_000));
    await waitFor(() => isLocked(api, path));

    const others = await Promise.all(
      times(4, async () => (await beginToAppend(service.port, path, 5)).write('other').answer()),
    );
    expect(others.map(({ status }) => status)).toEqual([423, 423, 423, 423]);
    await waitFor(() => pidsOf(service).length === 2);
    writer.write(bytes.subarray(1_000));
    expect(await writer.answer()).toMatchObject({ status: 204, headers: { 'upload-offset': String(bytes.length) } });
    await expectWhole(service.url! + path, bytes);
    writer.destroy();
  }, 240_000);

  it('is answered with what has come when its service stops, and goes on from there after the next start', async () => {
    const bytes = randomBytes(3 * MEBIBYTE);
    let service = await services.start(settings());
    const path = await create(service.url!, bytes.length);
    const writer = await beginToAppend(service.port, path, bytes.length);
    writer.write(bytes.subarray(0, MEBIBYTE));
    // The service holds one chunk back until it knows whether it is the last.
    await waitFor(() => statSync(fileOf(path)).size > MEBIBYTE - CHUNK);

    const signalled = performance.now();
    service.signal('SIGTERM');
    const answer = await writer.answer();
    expect(performance.now() - signalled).toBeLessThan(10_000);
    expect(answer).toMatchObject({ status: 204, headers: { 'upload-offset': String(MEBIBYTE), connection: 'close' } });
    writer.destroy();
    expect(await service.ended).toBe(0);

    service = await services.start(settings());
    expect(await offsetOf(service.url! + path)).toBe(MEBIBYTE);
    expect((await append(service.url! + path, MEBIBYTE, bytes.subarray(MEBIBYTE))).status).toBe(204);
    await expectWhole(service.url! + path, bytes);
  }, 240_000);
});

/** The processes that have answered requests, as the log names them. */
function pidsOf({ lines }: ServiceProcess): number[] {
  const requests = lines.filter((line) => line.includes('"msg":"request"') && line.includes('PATCH'));
  return [...new Set(requests.map((line) => (JSON.parse(line) as { pid: number }).pid))];
}
