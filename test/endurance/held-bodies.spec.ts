import { gzipSync } from 'node:zlib';
import { countStatuses, RawConnection, RowLock, times } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';

jest.setTimeout(120_000);

describe('Bodies', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  const LENGTH = 1024 * 1024;
  const SENT = 1_000_000;
  /** So many fill the share of a network. */
  const CLIENTS = 17;

  it('that one client holds back take no room that others have', async () => {
    const user = await api.user();
    const head = `Host: x\r\nX-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer ${user.token}\r\n`;
    const start = `POST /api/v1/posts HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${LENGTH}\r\n\r\n`;
    const clients = await Promise.all(times(CLIENTS, () => RawConnection.open(api.app.port)));
    for (const client of clients) client.write(start + 'x'.repeat(SENT));

    const post = { title: 'Large', content: 'x'.repeat(40_000) };
    const from = async (address: string) =>
      (
        await api
          .as(user)
          .with({ 'X-Forwarded-For': address })
          .post('/posts', { ...post, title: address })
      ).status;
    // The one for whom no room is left; the others still have time.
    expect(await Promise.any(clients.map((client) => client.answer(60_000)))).toMatchObject({
      status: 503,
      text: expect.stringContaining('Too many large bodies'),
    });
    // In another neighbourhood.
    expect(await from('198.51.100.1')).toBe(201);
    for (const client of clients) client.destroy();
  });
});

describe('Bodies of a kilobyte that unpack to a megabyte', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  /** More than the share of a client. */
  const CLIENTS = 33;
  const MEBIBYTE = 2 ** 20;
  const MAX_BLOCK_MS = 250;

  const packed = (body: object) => gzipSync(JSON.stringify(body).padEnd(MEBIBYTE));
  const headOf = (target: string, token: string, body: Buffer) =>
    `${target} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;

  it('take room until they are answered, a share for each client', async () => {
    const [user, other] = [await api.user(), await api.user()];
    const body = packed({ name: 'Large' });
    const lock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
    const clients = await Promise.all(times(CLIENTS, () => RawConnection.open(api.app.port)));
    for (const client of clients) {
      client.write(headOf(`PATCH /api/v1/users/${user.id}`, user.token, body)).write(body);
    }

    expect(await Promise.any(clients.map((client) => client.answer(60_000)))).toMatchObject({
      status: 503,
      text: expect.stringContaining('Too many large bodies'),
    });
    const from = async (address: string) => {
      const post = { title: address, content: 'x'.repeat(40_000) };
      return (await api.as(other).with({ 'X-Forwarded-For': address }).post('/posts', post)).status;
    };
    expect(await from('192.0.2.1')).toBe(503);
    expect(await from('198.51.100.1')).toBe(201);
    await lock.release();

    const answers = await Promise.all(clients.map((client) => client.answer(60_000)));
    expect(countStatuses(answers)).toEqual({ 200: CLIENTS - 1, 503: 1 });
    expect(await from('192.0.2.1')).toBe(201);
    for (const client of clients) client.destroy();
  });

  describe('in a service of its own', () => {
    let service: BuiltService;

    beforeAll(async () => {
      // One user sends more than it may in a day.
      const settings = { DATABASE_URL: api.app.databaseUrl, WRITE_QUOTA: '0' };
      service = await BuiltService.start(settings, { watched: true });
    });
    afterAll(() => service.stop());

    it('keep nobody waiting, however many come at once', async () => {
      const { token } = await api.user();
      const body = packed({ title: 'Large', content: 'Large' });
      const clients = await Promise.all(times(200, () => RawConnection.open(service.port)));
      for (const client of clients) client.write(headOf('POST /api/v1/posts', token, body));
      await service.longestBlock();
      for (const client of clients) client.write(body);
      const answers = await Promise.all(clients.map((client) => client.answer(60_000)));
      for (const client of clients) client.destroy();

      expect(await service.longestBlock()).toBeLessThan(MAX_BLOCK_MS);
      expect(countStatuses(answers)).toEqual({ 201: 200 });
    });
  });
});
