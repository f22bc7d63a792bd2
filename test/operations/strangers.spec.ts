import { setTimeout as sleep } from 'node:timers/promises';
import { BuiltService } from '../support/built-service';
import { cloneTemplate } from '../support/databases';
import { RawConnection } from '../support/raw-http';
import { countStatuses, times, useTestApi } from '../support/test-api';

jest.setTimeout(120_000);

describe('A service that strangers try', () => {
  it.each(['', 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'])(
    'outlives the reset of a connection that asks for a tunnel, behind %j',
    async (before) => {
      const database = await cloneTemplate();
      const service = await BuiltService.start({ DATABASE_URL: database.url });
      for (const wait of [0, 20, 100, 300]) {
        const connection = await RawConnection.open(service.port);
        connection.write(`${before}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
        await sleep(wait);
        connection.reset();
      }
      await sleep(500);

      expect(service.running).toBe(true);
      expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
      await service.stop();
      await database.drop();
    },
  );
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

describe('Answers that one client leaves unread', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });

  it('keep no other client from its own', async () => {
    const user = await api.user();
    const content = '<'.repeat(50_000);
    for (let post = 0; post < 25; post++) await api.as(user).post('/posts', { title: 'Large', content });
    const request = (address: string) =>
      `GET /api/v1/posts?size=25 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`;
    const hoarders = await Promise.all(times(20, () => RawConnection.open(api.app.port)));
    for (const hoarder of hoarders) hoarder.pause().write(request('192.0.2.1'));
    await sleep(3_000);

    const answer = await api.get('/posts?size=25', { 'X-Forwarded-For': '192.0.2.2' });
    expect(answer.status).toBe(200);
    for (const hoarder of hoarders) hoarder.destroy();
  });
});
