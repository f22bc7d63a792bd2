import type { Server, ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { Controller, Get, Module, Query } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AnswersPage, type Page, paginate, Public } from '../../src/platform';
import { cloneTemplate, RowLock, times, waitFor } from '../../src/platform/testing';
import { ListPostsQuery, PostDto, toPostDto } from '../../src/resources/posts/post.dto';
import { Post, PostStatus } from '../../src/resources/posts/post.entity';
import { TestApi } from '../support/test-api';
import { listenInsteadOf } from '../support/tcp-proxy';
import { startApp } from '../support/test-app';

jest.setTimeout(120_000);

const CROWD = 12;
/** The lists that run at once. */
const PLACES = 8;
const LENGTH = 48_000;
const POSTS = 30;
/** Bytes of one answer of the database. Only a page of many posts has more: what was found of it comes with one post. */
const LARGE = 4 * LENGTH;

/** Stands before the database, and lets only the beginning of each large answer pass while it is closed. */
class Gate {
  isClosed = false;
  /** The connections on which a large answer has been held. */
  readonly held = new Set<Socket>();
  private readonly server = createServer((client) => this.forward(client));
  private target: URL;

  start(url: string): Promise<string> {
    this.target = new URL(url);
    return listenInsteadOf(url, this.server);
  }

  open(): void {
    this.isClosed = false;
    for (const server of this.held) server.resume();
    this.held.clear();
  }

  stop(): void {
    this.server.close();
  }

  private forward(client: Socket): void {
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    let bytes = 0;
    client.on('data', (data) => {
      bytes = 0;
      server.write(data);
    });
    server.on('data', (data) => {
      bytes += data.length;
      client.write(data);
      if (!this.isClosed || bytes <= LARGE) return;
      this.held.add(server.pause());
    });
    server.on('error', () => client.destroy()).on('end', () => client.end());
    client.on('error', () => server.destroy()).on('end', () => server.end());
    client.on('close', () => this.held.delete(server));
  }
}

@Controller('within')
class WithinController {
  constructor(private readonly database: DataSource) {}

  @Get()
  @Public()
  @AnswersPage(PostDto)
  list(@Query() query: ListPostsQuery): Promise<Page<object>> {
    return this.database.transaction(async (manager) =>
      (await paginate(manager.getRepository(Post), query, {})).map(toPostDto),
    );
  }
}

@Module({ controllers: [WithinController] })
class WithinModule {}

describe('Pages of very long texts', () => {
  const api = new TestApi();
  const gate = new Gate();
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  let arrived = 0;
  let gone = 0;

  const from = (network: number) => api.with({ 'X-Forwarded-For': `10.${network}.0.1` });

  beforeAll(async () => {
    database = await cloneTemplate();
    const databaseUrl = await gate.start(database.url);
    api.app = await startApp({ databaseUrl, settings: { TRUST_PROXY: '1' }, imports: [WithinModule] });
    const server = api.app.nest.getHttpServer() as Server;
    server.on('request', (_request, response: ServerResponse) => {
      arrived++;
      response.on('close', () => response.writableFinished || gone++);
    });
    const author = api.as(await api.user());
    const post = { title: 'A title with kettles', content: 'x'.repeat(LENGTH) };
    for (let count = 0; count < POSTS; count++) {
      const { body } = await author.post('/posts', post);
      const comment = { content: '漢'.repeat(5_000) };
      if (count === 0) await Promise.all(times(POSTS, () => author.post(`/posts/${body.data.id}/comments`, comment)));
    }
  });

  beforeEach(() => {
    arrived = 0;
    gone = 0;
    gate.isClosed = true;
  });

  afterEach(() => gate.open());

  afterAll(async () => {
    await api.app?.stop();
    gate.stop();
    await database.drop();
  });

  /** What anybody else asks for. Each takes several turns, in which the crowd gets as far as it can. */
  async function readAsStranger(): Promise<void> {
    for (const path of ['/posts/1', '/posts?size=2', '/products?size=100', '/posts?search=kettles&size=1']) {
      expect(await from(2).get(path)).toMatchObject({ status: 200 });
    }
  }

  it.each([
    ['numbered', `/posts?size=${POSTS}`],
    ['of the usual size', '/posts'],
    ['by cursor', `//api/v2/posts?size=${POSTS}&sort=created_at&order=desc`],
    ['of a search', `/posts?search=kettles&size=${POSTS}`],
    ['of comments', `/posts/1/comments?size=${POSTS}`],
  ])('are read one after the other: %s', async (_name, path) => {
    // Shorter lists are only weighed when one of them was large lately.
    gate.isClosed = false;
    await from(3).get(path);
    gate.isClosed = true;
    arrived = 0;
    const answers = times(CROWD, () => from(1).get(path));
    await waitFor(() => arrived === CROWD && gate.held.size > 0);
    for (let round = 0; round < 3; round++) await readAsStranger();

    expect(gate.held.size).toBe(1);
    gate.open();
    const pages = await Promise.all(answers);
    expect(pages.map(({ status }) => status)).toEqual(times(CROWD, () => 200));
    for (const { body } of pages) expect((body as { data: object[] }).data.length).toBeGreaterThanOrEqual(20);
  });

  it('let those of a stranger pass', async () => {
    let answered = 0;
    const crowd = times(CROWD, async () => {
      await from(1).get(`/posts?size=${POSTS}`);
      answered++;
    });
    await waitFor(() => arrived === CROWD && gate.held.size === 1);
    await readAsStranger();
    const page = from(2).get(`/posts?size=${POSTS}`);
    await waitFor(() => arrived > CROWD);
    await readAsStranger();
    gate.open();

    expect(await page).toMatchObject({ status: 200 });
    // In the order of arrival, the stranger would be the last.
    expect(answered).toBeLessThan(CROWD / 2);
    await Promise.all(crowd);
  });

  it('leave the queue with their clients, and the place when their rows have come', async () => {
    const leaving = new AbortController();
    const crowd = times(CROWD, () =>
      fetch(`http://127.0.0.1:${api.app.port}/api/v1/posts?size=${POSTS}`, { signal: leaving.signal }).catch(
        () => null,
      ),
    );
    await waitFor(() => arrived === CROWD && gate.held.size === 1);
    await readAsStranger();
    leaving.abort();
    await Promise.all(crowd);
    await waitFor(() => gone === CROWD);
    const next = from(2).get(`/posts?size=${POSTS}`);
    await waitFor(() => arrived > CROWD);
    gate.open();

    expect(await next).toMatchObject({ status: 200 });
  });

  it.each([
    ['numbered', '/posts?size=28&sort=updated_at', 28],
    ['by cursor', '//api/v2/posts?size=28&sort=updated_at', 28],
    ['of a search', '/posts?search=kettles&size=28', 28],
  ])('show what is there when they are read: %s', async (_name, path, size) => {
    const first = from(1).get(`/posts?size=${POSTS}`);
    await waitFor(() => gate.held.size === 1);
    const page = from(2).get(path);
    await waitFor(() => arrived === 2);
    await readAsStranger();
    const posts = api.repository(Post);
    const [draft, touched] = await posts.find({ select: { id: true }, order: { id: 'ASC' }, skip: 2, take: 2 });
    await posts.update({ id: draft.id }, { status: PostStatus.DRAFT });
    await posts.update({ id: touched.id }, { updated_at: new Date(), content: 'New' });
    gate.open();
    await first;
    const { status, body } = await page;
    await posts.update({ id: draft.id }, { status: PostStatus.PUBLISHED });
    const shown = new Map((body as { data: Post[] }).data.map((post) => [post.id, post]));

    expect([status, shown.size, shown.has(draft.id)]).toEqual([200, size, false]);
    const isLast = path.includes('updated_at');
    expect(shown.get(touched.id)?.content).toBe(isLast ? undefined : 'New');
  });

  it('that are read anew wait with other lists, and nobody who waits for the place waits for that', async () => {
    const first = from(1).get(`/posts?size=${POSTS}`);
    await waitFor(() => gate.held.size === 1);
    const page = from(2).get('/posts?size=28&sort=updated_at');
    await waitFor(() => arrived === 2);
    const next = from(3).get(`/posts?size=${POSTS - 2}&sort=title`);
    await waitFor(() => arrived === 3);
    await readAsStranger();
    const posts = api.repository(Post);
    const [touched] = await posts.find({ select: { id: true }, order: { id: 'ASC' }, take: 1 });
    await posts.update({ id: touched.id }, { updated_at: new Date(), content: 'Newer' });
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const lists = times(2 * PLACES, (index) =>
      api.with({ 'X-Forwarded-For': `${100 + index}.0.0.1` }).get(`/products?status=ACTIVE&size=${index + 1}`),
    );
    await lock.awaitedBy(PLACES);
    gate.open();

    const waits = Promise.race([page, next.then(() => 'still waits')]);
    expect([(await first).status, (await next).status, await lock.waiting()]).toEqual([200, 200, PLACES]);
    expect(await waits).toBe('still waits');
    await lock.release();
    expect((await page).status).toBe(200);
    expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(lists.map(() => 200));
  });

  it('are read at once within a transaction, as the connection may be what others wait for', async () => {
    const first = from(1).get(`/posts?size=${POSTS}`);
    await waitFor(() => gate.held.size === 1);
    const within = fetch(`http://127.0.0.1:${api.app.port}/api/v1/within?size=${POSTS}`);
    await waitFor(() => gate.held.size === 2);
    gate.open();

    expect([(await first).status, (await within).status]).toEqual([200, 200]);
  });
});
