import { setTimeout as sleep } from 'node:timers/promises';
import { cloneTemplate, countStatuses, RawConnection, times } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';

jest.setTimeout(120_000);

describe('A service that strangers try', () => {
  it.each(['', 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'])(
    'outlives the reset of a connection that asks for a tunnel, behind %j',
    async (before) => {
      const database = await cloneTemplate();
      const service = await BuiltService.start({ DATABASE_URL: database.url });
      try {
        for (const wait of [0, 20, 100, 300]) {
          const connection = await RawConnection.open(service.port);
          connection.write(`${before}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
          // On purpose at different moments of what the service does.
          await sleep(wait);
          connection.reset();
        }
        // By the time these are answered, it has long learned of the resets.
        for (let turn = 0; turn < 20; turn++) expect((await fetch(`${service.url}/health/live`)).status).toBe(200);

        expect(service.running).toBe(true);
      } finally {
        await service.stop();
        await database.drop();
      }
    },
  );
});

describe('Request targets that are no URLs', () => {
  const TARGETS = [
    'http://[',
    'http://',
    '//a@[/#',
    '//[#',
    'http://a:b:c/',
    'http://a%',
    'x:',
    '?a',
    '/\\[#',
    'http://[::1/',
    '//x@[\u00a0',
  ];
  const ENDS = {
    'a bad chunk': 'Transfer-Encoding: chunked\r\n\r\nZZ\r\n',
    'a body that never comes': 'Content-Length: 5\r\n\r\n',
    'no body': '\r\n',
  };
  let service: BuiltService;
  let database: Awaited<ReturnType<typeof cloneTemplate>>;

  beforeAll(async () => {
    database = await cloneTemplate();
    service = await BuiltService.start({ DATABASE_URL: database.url, REQUEST_TIMEOUT: '1000' });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it.each(Object.entries(ENDS))('end no process, and are answered as all else, with %s', async (_name, end) => {
    for (const method of ['GET', 'POST']) {
      for (const target of TARGETS) {
        const request = `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${end}`;
        for (const wait of [0, 20]) {
          const leaving = (await RawConnection.open(service.port)).write(request);
          await sleep(wait);
          leaving.reset();
        }
        const connection = (await RawConnection.open(service.port)).write(request);
        const { status, headers, text } = await connection.answer();
        connection.destroy();

        expect([target, [400, 404].includes(status)]).toEqual([target, true]);
        expect(headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'x-request-id': expect.stringMatching(/./),
          'x-content-type-options': 'nosniff',
        });
        expect(JSON.parse(text)).toMatchObject({
          error: { code: expect.stringMatching(/^(VALIDATION_ERROR|NOT_FOUND)$/) },
        });
        expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
      }
    }
    expect(service.running).toBe(true);
  });
});

describe('Requests that are sent ahead', () => {
  const api = useTestApi();

  it('are each their own, whatever the one before still does', async () => {
    const user = await api.user();
    const body = JSON.stringify({ title: 'Sent ahead', content: 'Sent ahead' });
    const head = `Host: x\r\nAuthorization: Bearer ${user.token}\r\n`;
    const post = `POST /api/v1/posts HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const get = `GET /api/v1/posts?search=ahead HTTP/1.1\r\n${head}\r\n`;
    const connection = await RawConnection.open(api.app.port);
    const answers = await connection.write(post + get + get).answers(3);
    connection.destroy();

    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
  });
});

describe('Changes of a password', () => {
  const api = useTestApi();

  it('take one place among the hashes, however many one user sends', async () => {
    const user = await api.user();
    const change = () => api.as(user).patch(`/users/${user.id}`, { password: 'another long password' });
    const answers = countStatuses(await Promise.all(times(30, change)));

    expect(answers[200]).toBe(1);
    expect((answers[409] ?? 0) + (answers[401] ?? 0)).toBe(29);
  });

  it('cost no hash where the user is in another version', async () => {
    const user = await api.user();
    const stale = () =>
      api.as(user).patch(`/users/${user.id}`, { password: 'another long password' }, { 'If-Match': '"999"' });

    expect(countStatuses(await Promise.all(times(30, stale)))).toEqual({ 412: 30 });
  });
});
