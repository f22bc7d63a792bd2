import { connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Module, Query } from '@nestjs/common';
import { Public } from '../../src/auth/access.decorators';
import { RawConnection } from '../support/raw-http';
import { countStatuses, times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

/** How many of its handlers are at work, and how many have been at most. */
const work = { now: 0, most: 0, done: 0, gate: Promise.resolve() };

@Controller('work')
class WorkController {
  @Get()
  @Public()
  async work(@Query() { fields }: { fields?: string }): Promise<object> {
    work.most = Math.max(work.most, ++work.now);
    await work.gate;
    await sleep(2);
    work.now--;
    work.done++;
    return { fields };
  }
}

@Module({ controllers: [WorkController] })
class WorkModule {}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('A connection on which requests are sent ahead', () => {
  const api = useTestApi({ imports: [WorkModule] });

  beforeEach(() => Object.assign(work, { now: 0, most: 0, done: 0, gate: Promise.resolve() }));

  it('has one answer in the making, and gets all of them, in order', async () => {
    const connection = await RawConnection.open(api.app.port);
    const ids = times(30, (index) => `id-${index}`);
    connection.write(ids.map((id) => `GET /api/v1/work HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`).join(''));
    const answers = await connection.answers(ids.length);
    connection.destroy();

    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
    expect(countStatuses(answers)).toEqual({ 200: 30 });
    expect(work).toMatchObject({ most: 1, done: 30 });
  });

  it('takes nothing from other connections', async () => {
    const connections = await Promise.all(times(5, () => RawConnection.open(api.app.port)));
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    for (const connection of connections) connection.write(get('/api/v1/work').repeat(4));
    await waitFor(() => work.now === 5);
    expect((await api.get('/public')).status).toBe(200);
    open();

    const answers = await Promise.all(connections.map((connection) => connection.answers(4)));
    connections.forEach((connection) => connection.destroy());
    expect(countStatuses(answers.flat())).toEqual({ 200: 20 });
    expect(work.most).toBe(5);
  });

  it('may be sent thousands ahead, with bodies and without', async () => {
    const body = JSON.stringify({ username: 'nobody' });
    const head = `POST /api/v1/auth/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const post = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(api.app.port, '127.0.0.1').setEncoding('latin1');
    const statuses: string[] = [];
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + String(chunk)).split('\r\n');
      rest = lines.pop()!;
      statuses.push(...lines.flatMap((line) => /HTTP\/1\.1 (\d+) /.exec(line)?.[1] ?? []));
    });
    socket.write((get('/health/live') + post).repeat(1_500));
    await waitFor(() => statuses.length === 3_000);
    socket.destroy();

    expect(statuses).toEqual(times(3_000, (index) => (index % 2 ? '400' : '200')));
  });

  it('is read no further while one of them waits, however many there are', async () => {
    work.gate = new Promise(() => undefined);
    const socket = connect(api.app.port, '127.0.0.1').on('error', () => undefined);
    const many = get('/api/v1/work').repeat(10_000);
    // More than the system keeps between two ends of a connection.
    for (let index = 0; index < 60; index++) socket.write(many);
    await waitFor(() => work.now === 1);
    await sleep(500);

    const [served] = servedConnections();
    expect(served.bytesRead).toBeLessThan(1024 * 1024);
    expect(work).toMatchObject({ now: 1, most: 1 });
    socket.destroy();
  });

  it('is done with when its client goes away: what it has sent ahead is not begun', async () => {
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    const connection = await RawConnection.open(api.app.port);
    connection.write(get('/api/v1/work').repeat(20));
    await waitFor(() => work.now === 1);
    connection.reset();
    await sleep(100);
    open();
    await waitFor(() => work.now === 0);
    await sleep(100);

    expect(work.done).toBeLessThanOrEqual(2);
  });

  /** Its own ends of the connections that it has. */
  function servedConnections(): Socket[] {
    const handles = (process as unknown as { _getActiveHandles: () => object[] })._getActiveHandles();
    return handles.filter(
      (handle) => handle instanceof Socket && handle.localPort === api.app.port && handle.bytesRead > 0,
    ) as Socket[];
  }
});
