import { setTimeout as sleep } from 'node:timers/promises';
import {
  atOnce,
  countStatuses,
  expectError,
  query,
  type RawConnection,
  testRun,
  times,
  waitFor,
} from '../../src/platform/testing';
import { followed } from '../../src/platform/transactions/place';
import { useTestApi } from '../support/test-api';
import { TcpProxy } from '../support/tcp-proxy';
import { startApp } from '../support/test-app';
import { TusUser } from '../support/tus';
import { countLocks, isLocked } from '../support/upload-lock';

const MEBIBYTE = 1024 * 1024;
const LENGTH = 10;
/** When a client goes away after its headers, in milliseconds. */
const MOMENTS = [0, 1, 3, 6, 10];
const CLIENTS = 12;
const MALFORMED = '3\r\nabc\r\nno length\r\n';

/** Each way in which a client leaves in the middle of its request. */
const ENDINGS: [string, boolean, (connection: RawConnection) => unknown][] = [
  ['with a reset', false, (connection) => connection.write('abc').reset()],
  ['without a byte', false, (connection) => connection.reset()],
  ['in order', false, (connection) => connection.write('abc').end()],
  ['with its answer unread', false, (connection) => connection.write('abc').destroy()],
  ['after a malformed chunk', true, (connection) => connection.write(MALFORMED).reset()],
  ['and leaves a malformed chunk behind', true, (connection) => connection.write(MALFORMED)],
];

/** Behind a pooler no connection belongs to the locks, see pooler.spec.ts. */
const ofSession = testRun().pooler ? it.skip : it;

describe('The lock of an upload', () => {
  const api = useTestApi({
    settings: { MIN_FREE_DISK: '0', REQUEST_TIMEOUT: '5000', UPLOAD_MAX_OPEN_PER_USER: '50', UPLOAD_MAX_OPEN: '100' },
  });
  let own: TusUser;

  beforeEach(async () => {
    own = await TusUser.of(api);
  });

  it.each(ENDINGS)('goes with its client, who leaves %s at any moment', async (_name, chunked, leave) => {
    const connections: RawConnection[] = [];
    for (const moment of MOMENTS) {
      const paths = await Promise.all(times(CLIENTS, () => own.begin(LENGTH)));
      await atOnce(paths, async (path) => {
        const connection = await own.open(path, chunked ? undefined : LENGTH);
        connections.push(connection);
        await sleep(moment);
        leave(connection);
      });
      // Whoever goes on waits for the lock, if need be, and not for the time limit.
      for (const path of paths) {
        const offset = await own.offsetOf(path);
        const rest = Buffer.from('0123456789').subarray(offset);
        const answer = await own.append(path, offset, rest);
        // What the other had brought may have counted in between.
        if (answer.status === 409) expect(await own.offsetOf(path)).toBeGreaterThan(offset);
        else expect([moment, answer.status]).toEqual([moment, 204]);
      }
    }
    await waitFor(async () => (await countLocks(api)) === 0);
    // With none running, AsyncLocalStorage is off again.
    await waitFor(() => followed() === 0);
    for (const connection of connections) connection.destroy();
  });

  it('goes with a client who leaves while it waits for the lock of another', async () => {
    const path = await own.begin(LENGTH);
    const holder = await own.open(path, LENGTH);
    holder.write('abc');
    await waitFor(() => isLocked(api, path));
    const waiting = await Promise.all(times(10, () => own.open(path, LENGTH)));
    await sleep(100);
    for (const connection of waiting) connection.reset();
    holder.reset();
    await waitFor(async () => (await own.offsetOf(path)) === 3);
    await waitFor(async () => (await countLocks(api)) === 0);
    await waitFor(() => followed() === 0);
    expect((await own.append(path, 3, Buffer.from('defghij'))).status).toBe(204);
  });

  it('goes with a connection on which other requests follow it', async () => {
    const paths = await Promise.all(times(5, () => own.begin(LENGTH)));
    for (const moment of MOMENTS) {
      const connection = await own.open(paths[0], LENGTH);
      connection.write(
        '0123456789' +
          paths
            .slice(1)
            .map((path) => own.head(path, LENGTH))
            .join('0123456789'),
      );
      await sleep(moment);
      connection.reset();
    }
    await waitFor(async () => (await countLocks(api)) === 0);
    await waitFor(() => followed() === 0);
    for (const path of paths) expect((await own.client.delete(path)).status).toBe(204);
  });

  it('goes when its bytes stop coming', async () => {
    const path = await own.begin(LENGTH);
    const connection = await own.open(path, LENGTH);
    connection.write('abc');
    await waitFor(() => isLocked(api, path));
    expectError(await connection.answer(), 'SERVICE_UNAVAILABLE');
    await waitFor(async () => (await countLocks(api)) === 0);
    expect((await own.append(path, 3, Buffer.from('defghij'))).status).toBe(204);
    connection.destroy();
  });

  ofSession('is another one after its connection to the database was lost', async () => {
    const path = await own.begin(4 * MEBIBYTE);
    const connection = await own.open(path, 4 * MEBIBYTE);
    connection.write('abc');
    await waitFor(() => isLocked(api, path));
    await query(
      api.app.databaseUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'resource-api locks'`,
    );
    // Who holds none any more writes no more, and is told how far that went.
    const answer = await connection.answer();
    connection.destroy();
    expect(answer.status).toBe(204);
    const offset = Number(answer.headers['upload-offset']);
    expect((await own.append(path, offset, Buffer.alloc(4 * MEBIBYTE - offset))).status).toBe(204);
    await waitFor(async () => (await countLocks(api)) === 0);
  });

  ofSession('is waited for no longer than the database takes to answer at all', async () => {
    const proxy = new TcpProxy();
    const databaseUrl = await proxy.start(api.app.databaseUrl);
    const other = await startApp({ databaseUrl, settings: { MIN_FREE_DISK: '0' } });
    const there = new TusUser({ app: other, as: () => own.client } as never, own.user);
    try {
      const [path, next] = [await own.begin(LENGTH), await own.begin(LENGTH)];
      const connection = await there.open(path, LENGTH);
      connection.write('abc');
      await waitFor(() => isLocked(api, path));
      proxy.mute('resource-api locks');
      const start = performance.now();
      const second = (await there.open(next, LENGTH)).write('0123456789');
      expectError(await second.answer(20_000), 'SERVICE_UNAVAILABLE');
      expect(performance.now() - start).toBeLessThan(15_000);
      proxy.accept();
      // All that this process held ended with the connection, and a new one serves the next.
      expect((await connection.answer()).status).toBe(204);
      const third = (await there.open(next, LENGTH)).write('0123456789');
      expect((await third.answer()).status).toBe(204);
      await waitFor(async () => (await countLocks(api)) === 0);
      for (const one of [connection, second, third]) one.destroy();
    } finally {
      await other.stop();
      proxy.stop();
    }
  });
});

describe('Requests to uploads', () => {
  const api = useTestApi({
    settings: { MIN_FREE_DISK: '0', UPLOAD_MAX_OPEN_PER_USER: '2', UPLOAD_MAX_OPEN: '3' },
  });
  let own: TusUser;

  beforeEach(async () => {
    own = await TusUser.of(api);
  });

  /** Opens so many that hold their lock, and a way to end them. */
  async function hold(user: TusUser, count: number) {
    const paths = await Promise.all(times(count, () => user.begin(LENGTH)));
    const connections = await Promise.all(paths.map((path) => user.open(path, LENGTH)));
    for (const connection of connections) connection.write('abc');
    for (const path of paths) await waitFor(() => isLocked(api, path));
    return { paths, end: () => connections.forEach((connection) => connection.destroy()) };
  }

  it('of one user are so many at once, and the others’ are still served', async () => {
    const other = await TusUser.of(api);
    const done = await own.begin(LENGTH);
    const path = await own.begin(LENGTH);
    const held = await hold(own, 2);
    const refused = await own.append(path, 0, Buffer.from('x'));
    expectError(refused, 'TOO_MANY_REQUESTS');
    expect(refused.headers.get('retry-after')).toBe('1');
    expectError(await own.create(1), 'TOO_MANY_REQUESTS');

    expect((await own.client.get(path)).status).toBe(200);
    expect((await own.client.delete(done)).status).toBe(204);
    const theirs = await other.begin(LENGTH);
    expect((await other.append(theirs, 0, Buffer.from('0123456789'))).status).toBe(204);

    held.end();
    await waitFor(async () => (await own.append(path, 0, Buffer.from('0123456789'))).status === 204);
  });

  it('are so many at once in all', async () => {
    const [second, third, last] = await Promise.all(times(3, () => TusUser.of(api)));
    const path = await last.begin(LENGTH);
    // One each: whoever had more would give way.
    const held = await Promise.all([own, second, third].map((user) => hold(user, 1)));
    const refused = await last.append(path, 0, Buffer.from('x'));
    expectError(refused, 'SERVICE_UNAVAILABLE');
    expect(refused.headers.get('retry-after')).toBe('1');
    for (const one of held) one.end();
    await waitFor(async () => (await last.append(path, 0, Buffer.from('0123456789'))).status === 204);
  });

  it('that are short and come all at once wait for each other', async () => {
    const answers = await Promise.all(times(10, () => own.create(3, Buffer.from('abc'))));
    expect(countStatuses(answers)).toEqual({ 201: 10 });
  });

  it('that wait are so many as well, and no lock is asked for them', async () => {
    const { paths, end } = await hold(own, 2);
    const answers = await Promise.all(
      times(40, (index) => own.client.delete(paths[index % 2])).concat(
        times(40, (index) => own.append(paths[index % 2], 0, Buffer.from('x'))),
      ),
    );
    const counts = countStatuses(answers);
    expect(counts[429]).toBeGreaterThan(50);
    expect(counts[429] + (counts[423] ?? 0)).toBe(80);
    end();
    await waitFor(async () => (await countLocks(api)) === 0);
  });

  it('for content are so many at once', async () => {
    const large = 48 * MEBIBYTE;
    const path = await own.begin(large);
    expect((await own.append(path, 0, Buffer.alloc(large))).status).toBe(204);
    const unread = await Promise.all(
      times(8, async () => {
        const answer = await fetch(`${api.url}/api/v1${path}/content`, {
          headers: { Authorization: `Bearer ${own.user.token}` },
        });
        return [answer.status, answer] as const;
      }),
    );
    expect(unread.map(([status]) => status)).toEqual(times(8, () => 200));
    expectError(await own.client.get(`${path}/content`, { Range: 'bytes=0-1' }), 'TOO_MANY_REQUESTS');
    for (const [, answer] of unread) await answer.body!.cancel();
    await waitFor(async () => (await own.client.get(`${path}/content`, { Range: 'bytes=0-1' })).status === 206);
  });
});
