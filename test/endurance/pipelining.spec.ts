import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, Socket } from 'node:net';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { countStatuses, RawConnection, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { LONG, WorkModule, work } from '../support/modules/turns';

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';

/** Answered at once: it has no Host. */
const SHORTEST = 'GET / HTTP/1.1\r\n\r\n';

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('A connection on which requests are sent ahead', () => {
  const api = useTestApi({ imports: [WorkModule] });

  beforeEach(() => Object.assign(work, { now: 0, most: 0, done: 0, gate: Promise.resolve() }));

  it('has one answer in the making, and gets all of them, in order', async () => {
    const connection = await RawConnection.open(api.app.port);
    const ids = times(30, (index) => `id-${index}`);
    connection.write(ids.map((id) => `GET /api/v1/turns HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`).join(''));
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
    for (const connection of connections) connection.write(get('/api/v1/turns').repeat(4));
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
    try {
      await waitFor(() => statuses.length === 3_000, 50_000);
    } finally {
      socket.destroy();
    }

    expect(statuses).toEqual(times(3_000, (index) => (index % 2 ? '400' : '200')));
  });

  it('is read no further while one of them waits, however many there are', async () => {
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    const others = new Set(servedConnections());
    const socket = connect(api.app.port, '127.0.0.1').on('error', () => undefined);
    const many = get('/api/v1/turns').repeat(10_000);
    // More than the system keeps between two ends of a connection.
    for (let index = 0; index < 60; index++) socket.write(many);
    await waitFor(() => work.now === 1);
    const served = servedConnections().find((one) => !others.has(one))!;
    await waitFor(() => served.isPaused());

    expect(served.bytesRead).toBeLessThan(1024 * 1024);
    expect(work).toMatchObject({ now: 1, most: 1 });
    socket.destroy();
    // As it isn't read, it is only now that the service learns that its client has gone.
    open();
    await waitFor(() => served.destroyed && work.now === 0);
  });

  it('has one request made of what is behind the one in the making, be it thousands', async () => {
    const made = await countRequests(async () => {
      let open = () => {};
      work.gate = new Promise<void>((resolve) => (open = resolve));
      const others = new Set(servedConnections());
      const served = () => servedConnections().filter((one) => !others.has(one));
      const connections = await Promise.all(times(3, () => RawConnection.open(api.app.port)));
      for (const connection of connections) connection.write(get('/api/v1/turns') + SHORTEST.repeat(3_000));
      await waitFor(() => work.now === 3 && served().every(({ bytesRead }) => bytesRead > 50_000));
      connections.forEach((connection) => connection.reset());
      await waitFor(() => served().length === 0);
      open();
      await waitFor(() => work.now === 0);
    });

    expect(made.all).toBeLessThan(30);
  });

  it('leaves turns to other connections, however quickly its requests are answered', async () => {
    const socket = connect(api.app.port, '127.0.0.1').setEncoding('latin1');
    let answers = 0;
    socket.on('data', (chunk) => (answers += String(chunk).split('HTTP/1.1 400 ').length - 1));
    const made = await countRequests(async () => {
      socket.write(SHORTEST.repeat(1_500));
      // A status line may have come in two pieces.
      await waitFor(() => answers > 1_400);
    });
    socket.destroy();

    expect(made.all).toBeGreaterThan(1_400);
    expect(made.mostInATurn).toBeLessThan(30);
  });

  it('is closed when too much is kept for its network, which takes nothing from another', async () => {
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    const strangers = times(220, () => connect({ port: api.app.port, host: '127.0.0.1', localAddress: '127.0.9.1' }));
    let closed = 0;
    for (const socket of strangers) {
      socket.on('error', () => undefined).on('close', () => closed++);
      socket.write(get('/api/v1/turns').repeat(3_000));
    }
    await waitFor(() => closed > 10);
    const connection = await RawConnection.open(api.app.port);
    connection.write(get('/api/v1/turns').repeat(400));
    await waitFor(() => servedConnections().some(({ remoteAddress }) => remoteAddress === '127.0.0.1'));
    open();
    strangers.forEach((socket) => socket.destroy());
    const answers = await connection.answers(400, 30_000);
    connection.destroy();

    expect(countStatuses(answers)).toEqual({ 200: 400 });
  });

  it('is done with when its client goes away: what it has sent ahead is not begun', async () => {
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    const others = new Set(servedConnections());
    const connection = await RawConnection.open(api.app.port);
    connection.write(get('/api/v1/turns').repeat(20));
    await waitFor(() => work.now === 1);
    const served = servedConnections().find((one) => !others.has(one))!;
    connection.reset();
    await waitFor(() => served.destroyed);
    open();
    await waitFor(() => work.now === 0);
    // The next would begin in a turn of its own.
    await turnOfTheLoop();

    expect(work.done).toBeLessThanOrEqual(2);
  });

  it('may break a chunk behind the others: they are answered, then that is 400, and nothing of it is begun', async () => {
    const connection = await RawConnection.open(api.app.port);
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    connection.write(`${get('/api/v1/turns')}${brokenPost('X-Request-Id: broken')}`);
    await waitFor(() => work.now === 1);
    open();
    const answers = await connection.allAnswers();

    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[1].headers).toMatchObject({ connection: 'close', 'x-request-id': 'broken' });
    expect(JSON.parse(answers[1].text).error).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(work.done).toBe(1);
    expect(linesOf('broken')).toEqual([expect.objectContaining({ status: 400, address: '127.0.0.1' })]);
    expect(failures()).toEqual([]);
  });

  it('gets its answers whole before a tunnel is refused, and is closed then', async () => {
    const connection = await RawConnection.open(api.app.port);
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    connection.write(`${get('/api/v1/turns').repeat(3)}${CONNECT}`);
    await waitFor(() => work.now === 1);
    open();
    const answers = await connection.allAnswers();

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 405]);
    expect(answers[3].headers).toMatchObject({ connection: 'close', allow: expect.stringContaining('GET') });
    expect(failures()).toEqual([]);
  });

  it('gets a long answer whole before a tunnel is refused, however slowly it reads', async () => {
    const others = new Set(servedConnections());
    const connection = await RawConnection.open(api.app.port);
    connection.write(`${get('/api/v1/turns/stream')}${CONNECT}`);
    await connection.stall();
    const served = servedConnections().find((one) => !others.has(one))!;
    await waitFor(() => served.writableNeedDrain);
    const answers = await connection.resume().allAnswers();

    expect(answers.map(({ status, text }) => [status, text.length >= LONG])).toEqual([
      [200, true],
      [405, false],
    ]);
  });

  it('that asks for a tunnel and goes away is done with: what it has sent ahead is not begun', async () => {
    const others = new Set(servedConnections());
    const connection = await RawConnection.open(api.app.port);
    let open = () => {};
    work.gate = new Promise<void>((resolve) => (open = resolve));
    connection.write(`${get('/api/v1/turns')}${CONNECT}`);
    await waitFor(() => work.now === 1);
    const served = servedConnections().find((one) => !others.has(one))!;
    connection.reset();
    await waitFor(() => served.destroyed);
    open();
    await waitFor(() => work.now === 0);

    expect(failures()).toEqual([]);
  });

  const brokenPost = (header: string) =>
    `POST /api/v1/turns HTTP/1.1\r\nHost: x\r\n${header}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nZZ\r\n`;

  const linesOf = (id: string) => api.app.log.filter(({ request_id, msg }) => request_id === id && msg === 'request');

  /** What was logged of errors. */
  const failures = () => api.app.log.filter(({ level }) => (level as number) >= 50);

  /** How many requests Node has made while something is done, and how many at most in one turn of the event loop. */
  async function countRequests(act: () => Promise<void>): Promise<{ all: number; mostInATurn: number }> {
    const made = { all: 0, mostInATurn: 0 };
    let inTurn = 0;
    const count = () => {
      made.all++;
      made.mostInATurn = Math.max(made.mostInATurn, ++inTurn);
    };
    const turn = () => {
      inTurn = 0;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    subscribe('http.server.request.start', count);
    try {
      await act();
    } finally {
      unsubscribe('http.server.request.start', count);
      clearImmediate(next);
    }
    return made;
  }

  /** Its own ends of the connections that it has. */
  function servedConnections(): Socket[] {
    const handles = (process as unknown as { _getActiveHandles: () => object[] })._getActiveHandles();
    return handles.filter(
      (handle) => handle instanceof Socket && handle.localPort === api.app.port && handle.bytesRead > 0,
    ) as Socket[];
  }
});
