import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectError, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { TusUser } from '../support/tus';
import { countLocks } from '../support/upload-lock';

const MEBIBYTE = 1024 * 1024;
const KIBIBYTE = 1024;
const DRIPPERS = 40;
/** How much longer an upload may take beside others, on a machine that has other work as well. */
const SLOWER = 10;
const GRACE = 5_000;

describe('An upload beside others', () => {
  const settings = { MIN_FREE_DISK: '0', UPLOAD_MAX_OPEN_PER_USER: String(DRIPPERS) };
  const api = useTestApi({ settings });
  let own: TusUser;
  let reading: { stop: () => Promise<void> };
  /** What a test leaves, however it ends. */
  const left: (() => void)[] = [];

  beforeEach(async () => {
    own = await TusUser.of(api);
    // Uploads give way only to somebody.
    reading = read();
  });

  afterEach(async () => {
    for (const end of left.splice(0)) end();
    await reading.stop();
  });

  function read() {
    let stopped = false;
    const done = (async () => {
      while (!stopped) {
        await api.get('/products');
        await sleep(10);
      }
    })();
    return {
      stop: () => {
        stopped = true;
        return done;
      },
    };
  }

  /** Milliseconds of one PATCH. */
  async function send(bytes: Buffer): Promise<number> {
    const path = await own.begin(bytes.length);
    const start = performance.now();
    expect((await own.append(path, 0, bytes)).status).toBe(204);
    return performance.now() - start;
  }

  /** Sends one piece after the other on each of many requests, until the end of the test. */
  async function drip(user: TusUser, count: number, piece: string, pause: number, chunked = false): Promise<void> {
    const length = 16 * MEBIBYTE;
    const paths = await Promise.all(times(count, () => user.begin(length)));
    const connections = await Promise.all(paths.map((path) => user.open(path, chunked ? undefined : length)));
    const timer = setInterval(() => connections.forEach((connection) => connection.write(piece)), pause);
    left.push(() => clearInterval(timer), ...connections.map((connection) => () => connection.destroy()));
  }

  it('takes about as long when many drip', async () => {
    const bytes = randomBytes(4 * MEBIBYTE);
    await send(bytes);
    const alone = await send(bytes);
    await drip(await TusUser.of(api), DRIPPERS, 'x', 15);
    const beside = await send(bytes);
    expect(beside).toBeLessThan(alone * SLOWER + GRACE);
  });

  it('takes about as long when many send chunks of one byte, and other requests do too', async () => {
    const bytes = randomBytes(4 * MEBIBYTE);
    await send(bytes);
    const alone = await send(bytes);
    await drip(await TusUser.of(api), 5, '1\r\nx\r\n'.repeat(10_000), 5, true);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const beside = await send(bytes);
    delay.disable();
    expect(beside).toBeLessThan(alone * SLOWER + GRACE);
    expect(delay.max / 1e6).toBeLessThan(1_000);
  });

  it('has its turn after each user, not after each request of another', async () => {
    const other = await TusUser.of(api);
    const bytes = randomBytes(4 * MEBIBYTE);
    const large = randomBytes(64 * MEBIBYTE);
    await send(bytes);
    const alone = await send(bytes);
    const paths = await Promise.all(times(10, () => other.begin(large.length)));
    const connections = await Promise.all(paths.map((path) => other.open(path, large.length)));
    left.push(...connections.map((connection) => () => connection.destroy()));
    for (const connection of connections) connection.write(large);
    const beside = await send(bytes);
    expect(beside).toBeLessThan(alone * SLOWER + GRACE);
  });
});

describe('An upload whose client is slow', () => {
  const api = useTestApi({ settings: { MIN_FREE_DISK: '0', REQUEST_TIMEOUT: '3000' } });

  it('goes on at a kibibyte a second, and ends below, with what has come', async () => {
    const own = await TusUser.of(api);
    const [slow, dripping] = [await own.begin(MEBIBYTE), await own.begin(MEBIBYTE)];
    const connections = [await own.open(slow, 20 * KIBIBYTE), await own.open(dripping, MEBIBYTE)];
    let sent = 0;
    const start = performance.now();
    const timers = [
      setInterval(() => sent++ < 40 && connections[0].write(Buffer.alloc(512)), 400),
      setInterval(() => connections[1].write('x'), 100),
    ];
    try {
      const refused = await connections[1].answer(20_000);
      const took = performance.now() - start;
      expectError(refused, 'SERVICE_UNAVAILABLE');
      expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
      expect(took).toBeGreaterThan(9_000);

      // What came counts, and the client goes on from there.
      const offset = await own.offsetOf(dripping);
      expect(offset).toBeGreaterThan(50);
      expect((await own.append(dripping, offset, Buffer.alloc(MEBIBYTE - offset))).status).toBe(204);
      expect((await connections[0].answer(20_000)).headers['upload-offset']).toBe(String(20 * KIBIBYTE));
    } finally {
      for (const timer of timers) clearInterval(timer);
      for (const connection of connections) connection.destroy();
    }
    await waitFor(async () => (await countLocks(api)) === 0);
  });
});
