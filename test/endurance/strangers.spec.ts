import type { Server } from 'node:http';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Header, Module, Res, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../src/platform/auth/access.decorators';
import { expectError } from '../support/expectations';
import { RowLock } from '../support/row-lock';
import { hashing } from '../../src/platform/auth/passwords';
import { making } from '../../src/platform/answers/large-page';
import { BuiltService } from '../support/built-service';
import { cloneTemplate } from '../support/databases';
import { RawConnection } from '../support/raw-http';
import { countStatuses, times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

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

describe('Large pages', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  /** So many posts fill a page of 8 MiB. */
  const POSTS = 25;
  /** So few are large enough to wait for their turn. */
  const FEW = 3;
  const IN_QUEUE = 32;

  beforeAll(async () => {
    const user = await api.user();
    const post = { title: 'Large', content: '<'.repeat(50_000) };
    for (let count = 0; count < POSTS; count++) await api.as(user).post('/posts', post);
  });

  /** Clients that have asked, each from the neighbourhood of its own number, which has its share in what lies unread. */
  async function asking(count: number, size: number, network: (client: number) => number): Promise<RawConnection[]> {
    const connections = await Promise.all(times(count, () => RawConnection.open(api.app.port)));
    return connections.map((connection, client) => {
      const head = `Host: x\r\nX-Forwarded-For: 10.${network(client)}.0.1\r\n\r\n`;
      return connection.write(`GET /api/v1/posts?size=${size} HTTP/1.1\r\n${head}`);
    });
  }

  /** The one that finds the queue full is answered at once; by then all others are in it. */
  const oneTooMany = (clients: RawConnection[]) => Promise.any(clients.map((client) => client.answer()));

  const connections = () =>
    promisify((done: (error: Error | null, count: number) => void) =>
      (api.app.nest.getHttpServer() as Server).getConnections(done),
    )();

  it('that one client leaves unread keep no other client from its own', async () => {
    const hoarders = await asking(20, POSTS, () => 1);
    await Promise.all(hoarders.map((hoarder) => hoarder.stall(60_000)));

    const answer = await api.get(`/posts?size=${POSTS}`, { 'X-Forwarded-For': '192.0.2.2' });
    expect(answer.status).toBe(200);
    for (const hoarder of hoarders) hoarder.destroy();
  });

  it('have a bound together, however many networks they are for', async () => {
    const hoarders = await asking(24, POSTS, (client) => 10 + client);
    await Promise.all(hoarders.map((hoarder) => hoarder.stall(60_000)));

    const answer = await api.get(`/posts?size=${POSTS}`, { 'X-Forwarded-For': '198.51.100.1' });
    expectError(answer, 'SERVICE_UNAVAILABLE');
    for (const hoarder of hoarders) hoarder.destroy();
  });

  it('that nobody waits for any more leave their places in the queue to others', async () => {
    let free = () => undefined as void;
    const held = making.run(() => new Promise<void>((resolve) => (free = resolve)));
    const before = await connections();
    const leaving = await asking(IN_QUEUE + 1, FEW, (client) => client);
    expect((await oneTooMany(leaving)).status).toBe(503);
    for (const connection of leaving) connection.destroy();
    await waitFor(async () => (await connections()) <= before);

    const staying = await asking(IN_QUEUE + 1, FEW, (client) => client);
    await oneTooMany(staying);
    free();
    await held;
    const answers = await Promise.all(staying.map((connection) => connection.answer(60_000)));
    for (const connection of staying) connection.destroy();

    expect(countStatuses(answers)).toEqual({ 200: IN_QUEUE, 503: 1 });
  });

  it('that one network asks for leave a stranger a place in the queue', async () => {
    let free = () => undefined as void;
    const held = making.run(() => new Promise<void>((resolve) => (free = resolve)));
    const flood = await asking(IN_QUEUE + 1, FEW, () => 1);
    let refused = 0;
    const answers = flood.map(async (client) => {
      const { status } = await client.answer(60_000);
      if (status === 503) refused++;
    });
    await waitFor(() => refused === 1);
    const [stranger] = await asking(1, FEW, () => 2);
    // One of those who wait gives way.
    await waitFor(() => refused === 2);
    free();
    await held;
    const answer = await stranger.answer(60_000);
    await Promise.all(answers);
    for (const connection of [stranger, ...flood]) connection.destroy();

    expect(answer.status).toBe(200);
  });
});

describe('Many requests of one network', () => {
  const MANY = 130;
  const SEARCHES = 3;
  const api = useTestApi({
    settings: {
      REDIS_URL: '',
      TRUST_PROXY: '1',
      SEARCH_CONNECTIONS: String(SEARCHES),
      SEARCH_TIMEOUT: '20000',
      LOGIN_ADDRESS_LIMIT: '1000',
      LOGIN_ACCOUNT_LIMIT: '1000',
    },
  });
  const from = (network: number) => api.with({ 'X-Forwarded-For': `10.${network}.0.1` });

  it.each([
    ['espresso', SEARCHES],
    ['e', 1],
  ])('that search for “%s” leave strangers a place', async (text, running) => {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const search = (network: number) => from(network).get(`/products?search=${text}`);
    let refused = 0;
    const flood = times(MANY, async () => {
      const answer = await search(1);
      if (answer.status === 503) refused++;
      return answer;
    });
    await waitFor(() => refused >= MANY - 100 - running);
    const strangers = times(5, (index) => search(2 + index));
    // One of those who wait gives way to each.
    await waitFor(() => refused >= MANY - 100 - running + strangers.length);
    await lock.release();

    expect(countStatuses(await Promise.all(strangers))).toEqual({ 200: strangers.length });
    await Promise.all(flood);
  });

  it('that sign in leave strangers a place among the hashes', async () => {
    const user = await api.user();
    let free = () => undefined as void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const held = times(Math.min(availableParallelism(), 3), () => hashing.run(() => freed));
    let refused = 0;
    const flood = times(MANY, async () => {
      const answer = await from(1).post('/auth/tokens', { username: 'nobody at all', password: 'wrong' });
      if (answer.status === 503) refused++;
    });
    await waitFor(() => refused >= MANY - 100);
    const stranger = from(2).post('/auth/tokens', { username: user.username, password: user.password });
    await waitFor(() => refused > MANY - 100);
    free();

    expect((await stranger).status).toBe(201);
    await Promise.all([...held, ...flood]);
  });

  it('and those of a hundred scattered networks that come again leave a stranger a place', async () => {
    const IN_LINE = 100;
    const user = await api.user();
    let refused = 0;
    const signIn = async (network: number) => {
      const client = api.with({ 'X-Forwarded-For': `172.${network}.0.1` });
      const { status } = await client.post('/auth/tokens', { username: 'nobody at all', password: 'wrong' });
      if (status === 503) refused++;
    };
    /** One of each network, until all wait. */
    const fillLine = async () => {
      let free = () => undefined as void;
      const freed = new Promise<void>((resolve) => (free = resolve));
      const held = times(Math.min(availableParallelism(), 3), () => hashing.run(() => freed));
      const crowd = times(IN_LINE, signIn);
      await waitFor(() => hashing['line'].size === IN_LINE);
      return { free, all: Promise.all([...held, ...crowd]) };
    };
    const first = await fillLine();
    first.free();
    await first.all;
    const again = await fillLine();
    const stranger = api
      .with({ 'X-Forwarded-For': '172.200.0.1' })
      .post('/auth/tokens', { username: user.username, password: user.password });
    await waitFor(() => refused === 1);
    again.free();

    expect((await stranger).status).toBe(201);
    await again.all;
    expect(refused).toBe(1);
  });
});

const LARGE = 4 * 1024 * 1024;

@Controller('large')
@Public()
class LargeController {
  private readonly bytes = Buffer.alloc(LARGE, 'x');
  private readonly text = 'x'.repeat(LARGE);

  @Get('text')
  @Header('Content-Type', 'text/plain')
  asText(): string {
    return this.text;
  }

  @Get('sent')
  send(@Res() response: Response): void {
    response.send(this.bytes);
  }

  @Get('ended')
  end(@Res() response: Response): void {
    response.end(this.bytes);
  }

  @Get('written')
  write(@Res() response: Response): void {
    response.write(this.bytes);
    response.end();
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(this.bytes);
  }
}

@Module({ controllers: [LargeController] })
class LargeModule {}

describe('Large answers', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' }, imports: [LargeModule] });
  /** So many fill the share of a network, and what the system keeps for each of them on its way. */
  const CLIENTS = 12;
  const ASKED = 4;

  it.each(['text', 'sent', 'ended', 'written', 'stream'])(
    'that are left unread take of what all have, however they are sent: %s',
    async (way) => {
      const path = `/api/v1/large/${way}`;
      const ask = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`.repeat(ASKED);
      const clients = await Promise.all(times(CLIENTS, () => RawConnection.open(api.app.port)));
      for (const client of clients) client.pause().write(ask);

      const from = async (address: string) =>
        (await api.get(`/large/${way}`, { 'X-Forwarded-For': address, 'Accept-Encoding': 'identity' })).status;
      await waitFor(async () => (await from('192.0.2.1')) === 503);
      expect(await from('192.0.2.2')).toBe(200);
      for (const client of clients) client.destroy();
      await waitFor(async () => (await from('192.0.2.1')) === 200);
    },
  );
});

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
      service = await BuiltService.start({ DATABASE_URL: api.app.databaseUrl }, { watched: true });
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

describe('Lists that cost much', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1', DATABASE_POOL_SIZE: '4' } });

  it('leave connections to all else, and networks take turns', async () => {
    const user = await api.user();
    await api.as(user).post('/posts', { title: 'One', content: 'One' });
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'posts');
    const finished: string[] = [];
    const ask = async (address: string, index: number) => {
      const answer = await api.get(`/posts?sort=title&size=${1 + index}`, { 'X-Forwarded-For': address });
      finished.push(address);
      return answer;
    };
    const many = times(40, (index) => ask('192.0.2.1', index));
    await waitFor(async () => (await lock.waiting()) === 2);
    const one = ask('198.51.100.1', 0);
    // What needs a connection, and no such list, goes on.
    expect(await api.as(user).get('/users/profile')).toMatchObject({ status: 200 });
    await lock.release();

    expect(countStatuses(await Promise.all([...many, one]))).toEqual({ 200: 41 });
    expect(finished.indexOf('198.51.100.1')).toBeLessThan(20);
  });
});
