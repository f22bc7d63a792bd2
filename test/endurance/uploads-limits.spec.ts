import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, expectError, RawConnection, waitFor } from '../../src/platform/testing';
import { clientOf, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const MEBIBYTE = 1024 * 1024;
const TUS = { 'Tus-Resumable': '1.0.0' };
const CHUNK = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
const LIMIT = 1_000;
/** More than what lies between two ends of a connection, so that a client that doesn't read is felt. */
const LARGE = 48 * MEBIBYTE;

describe('An upload that takes long', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: String(LIMIT), MIN_FREE_DISK: '0' } });
  let owner: TestUser;
  let own: Client;

  beforeAll(async () => {
    owner = await api.user();
    own = api.as(owner);
  });

  async function begin(length: number): Promise<string> {
    const { body } = await own.post('/uploads', undefined, { ...TUS, 'Upload-Length': String(length) });
    return `/uploads/${body.data.key}`;
  }

  async function append(path: string, length: number, headers: Record<string, string> = {}): Promise<RawConnection> {
    const all = { Host: 'x', Authorization: `Bearer ${owner.token}`, ...CHUNK, 'Upload-Offset': '0', ...headers };
    const lines = Object.entries({ ...all, 'Content-Length': length }).map(([name, value]) => `${name}: ${value}`);
    const connection = await RawConnection.open(api.app.port);
    return connection.write([`PATCH /api/v1${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  }

  async function download(path: string): Promise<IncomingMessage> {
    const headers = { Authorization: `Bearer ${owner.token}` };
    const request = get(`${api.url}/api/v1${path}/content`, { headers, agent: false });
    return (await once(request, 'response'))[0] as IncomingMessage;
  }

  const offsetOf = async (path: string) => Number((await own.head(path)).headers.get('upload-offset'));

  it('is cut off when its bytes stall, and keeps those that came', async () => {
    const path = await begin(10);
    const connection = await append(path, 10);
    connection.write('hello');
    const start = performance.now();
    expectError(await connection.answer(), 'SERVICE_UNAVAILABLE');
    expect(performance.now() - start).toBeGreaterThan(LIMIT - 100);
    connection.destroy();

    await waitFor(async () => (await offsetOf(path)) === 5);
    const rest = { ...CHUNK, 'Upload-Offset': '5' };
    expect((await own.patch(path, Buffer.from('world'), rest)).status).toBe(204);
    expect((await own.get(`${path}/content`)).text).toBe('helloworld');
  });

  it('is not there when it is cut off in its creation, as no answer has named it', async () => {
    const stranger = await api.user();
    const list = async () => (await api.as(stranger).get('/uploads')).body.data as { offset: number }[];
    const head =
      `POST /api/v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stranger.token}\r\nTus-Resumable: 1.0.0\r\n` +
      'Upload-Length: 10\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 10\r\n\r\nhello';
    const stalled = (await RawConnection.open(api.app.port)).write(head);
    await waitFor(async () => (await list()).length === 1);
    expectError(await stalled.answer(), 'SERVICE_UNAVAILABLE');
    stalled.destroy();
    await waitFor(async () => (await list()).length === 0);
  });

  it('is not cut off while bytes come, be they few', async () => {
    const path = await begin(6);
    const connection = await append(path, 6);
    for (const letter of 'abcdef') {
      await sleep(LIMIT / 2);
      connection.write(letter);
    }
    expect(await connection.answer()).toMatchObject({ status: 204, headers: { 'upload-offset': '6' } });
    connection.destroy();
  });

  describe('to be read', () => {
    let path: string;

    beforeAll(async () => {
      path = await begin(LARGE);
      const answer = await own.patch(path, randomBytes(LARGE), { ...CHUNK, 'Upload-Offset': '0' });
      expect(answer.status).toBe(204);
    });

    it('is cut off when nobody takes it', async () => {
      const answer = await download(path);
      await sleep(LIMIT * 2);
      let length = 0;
      const read = async () => {
        for await (const chunk of answer as AsyncIterable<Buffer>) length += chunk.length;
      };
      await expect(read()).rejects.toThrow('aborted');
      expect(length).toBeLessThan(LARGE);
    });

    it('is not cut off while it is taken, be it slowly', async () => {
      const answer = await download(path);
      const start = performance.now();
      let length = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        const before = Math.floor(length / (4 * MEBIBYTE));
        length += chunk.length;
        if (Math.floor(length / (4 * MEBIBYTE)) > before) await sleep(LIMIT / 4);
      }
      expect(length).toBe(LARGE);
      expect(performance.now() - start).toBeGreaterThan(LIMIT * 2);
    });
  });

  it('may ask first whether its bytes are wanted', async () => {
    const path = await begin(5);
    const connection = await append(path, 5, { Expect: '100-continue' });
    expect((await connection.answer()).status).toBe(100);
    const [, last] = await connection.write('hello').answers(2);
    expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '5' } });
    connection.destroy();

    const other = await append(path, 5, { Expect: '100-continue', 'Content-Type': 'text/plain' });
    expectError(await other.answer(), 'UNSUPPORTED_MEDIA_TYPE');
    other.destroy();
  });
});

describe('An upload that would fill the disk', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0' } });

  it('is refused, before it begins and before it goes on', async () => {
    const user = await api.user();
    const settings = { MIN_FREE_DISK: String(2 ** 52) };
    const full = await startApp({ databaseUrl: api.app.databaseUrl, settings });
    const there = clientOf(() => `http://127.0.0.1:${full.port}`).with({ Authorization: `Bearer ${user.token}` });
    const length = { ...TUS, 'Upload-Length': '1' };
    const chunk = { ...CHUNK, 'Upload-Offset': '0' };
    const created = await api.as(user).post('/uploads', undefined, length);
    expect(created.status).toBe(201);
    const path = `/uploads/${created.body.data.key}`;
    try {
      expectError(await there.post('/uploads', undefined, length), 'INSUFFICIENT_STORAGE');
      expectError(await there.patch(path, Buffer.from('x'), chunk), 'INSUFFICIENT_STORAGE');
      // Nothing of it was taken: where there is room it goes on.
      expect((await api.as(user).patch(path, Buffer.from('x'), chunk)).status).toBe(204);
    } finally {
      await full.stop();
    }
  });
});
