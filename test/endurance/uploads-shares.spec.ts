import type { Request } from 'express';
import { countStatuses, expectError, RawConnection, times, waitFor } from '../../src/platform/testing';
import { Admission } from '../../src/uploads/admission';
import { FairSlots, rateOf } from '../../src/uploads/fair-slots';
import { TusEndpoint } from '../../src/uploads/tus/tus-endpoint';
import { useTestApi } from '../support/test-api';
import { TusUser } from '../support/tus';
import { countLocks, isLocked } from '../support/upload-lock';

const MEBIBYTE = 1024 * 1024;
const LENGTH = 10;
const PER_USER = 2;
const TOTAL = 6;
const PLACES = { MIN_FREE_DISK: '0', TRUST_PROXY: '1', REQUEST_TIMEOUT: '60000' };

describe('All places among uploads', () => {
  const api = useTestApi({
    settings: { ...PLACES, UPLOAD_MAX_OPEN_PER_USER: String(PER_USER), UPLOAD_MAX_OPEN: String(TOTAL) },
  });
  /** What a test leaves, however it ends. */
  const left: (() => void)[] = [];

  afterEach(async () => {
    for (const end of left.splice(0)) end();
    await waitFor(async () => (await countLocks(api)) === 0);
  });

  const userOf = (network: number, address = 1) => TusUser.of(api, { 'X-Forwarded-For': `10.0.${network}.${address}` });

  /** A request that has brought three bytes, and keeps its place. */
  async function hold(user: TusUser, length = LENGTH) {
    const path = await user.begin(length);
    const connection = (await user.open(path, length)).write('abc');
    left.push(() => connection.destroy());
    await waitFor(() => isLocked(api, path));
    return { user, path, connection, ended: connection.answer(60_000).catch(() => undefined) };
  }

  /** So many requests of each user. */
  async function holdAll(users: TusUser[], count: number) {
    return (await Promise.all(users.map((user) => Promise.all(times(count, () => hold(user)))))).flat();
  }

  it.each([
    ['many accounts of another network', [1, 1, 1], 9],
    ['a few other networks', [1, 2, 3], 9],
    ['many other accounts of one’s own network', [1, 1, 1], 1],
  ])('that are taken by %s leave one to a stranger, and nothing is lost', async (_who, networks, own) => {
    const greedy = await Promise.all(networks.map(userOf));
    const stranger = await userOf(own);
    const held = await holdAll(greedy, PER_USER);
    let ended = 0;
    for (const one of held) void one.ended.then((answer) => answer && ended++);
    const path = await stranger.begin(LENGTH);
    expect((await stranger.append(path, 0, Buffer.from('0123456789'))).status).toBe(204);

    await waitFor(() => ended === 1);
    const {
      user,
      path: theirs,
      ended: answer,
    } = await Promise.any(held.map(async (one) => ((await one.ended) ? one : Promise.reject(new Error('It goes on')))));
    expect(await answer).toMatchObject({ status: 503, headers: { 'retry-after': '1', connection: 'close' } });
    expect(await user.offsetOf(theirs)).toBe(3);
    expect((await user.append(theirs, 3, Buffer.from('defghij'))).status).toBe(204);
    expect((await user.client.get(`${theirs}/content`)).text).toBe('abcdefghij');
    expect(ended).toBe(1);
  });

  it('that are taken by one account for each address of a block leave one to a stranger', async () => {
    const greedy = await Promise.all(times(TOTAL, (index) => userOf(1, index + 1)));
    const stranger = await userOf(9);
    await holdAll(greedy, 1);

    expect((await stranger.create(LENGTH)).status).toBe(201);
  });

  it('and all places in the line leave one to a stranger', async () => {
    const greedy = await Promise.all(times(3, () => userOf(1)));
    const stranger = await userOf(9);
    await holdAll(greedy, PER_USER);
    const waiting = greedy.flatMap((user) => times(4 * PER_USER, () => user.create(LENGTH)));
    const line = () => api.app.nest.get(TusEndpoint)['admission']['queue'].size;
    await waitFor(() => line() === 4 * TOTAL);

    expect((await stranger.create(LENGTH)).status).toBe(201);
    const counts = countStatuses(await Promise.all(waiting));
    expect((counts[429] ?? 0) + (counts[503] ?? 0)).toBeGreaterThanOrEqual(1);
  });

  it('that each belong to another are kept, but for those who are slow for long', async () => {
    const users = await Promise.all(times(TOTAL, (index) => userOf(index + 1)));
    const stranger = await userOf(9);
    const fast = await hold(users[0], 64 * MEBIBYTE);
    const slow = await holdAll(users.slice(1), 1);
    const timer = setInterval(() => fast.connection.write(Buffer.alloc(64 * 1024)), 100);
    left.push(() => clearInterval(timer));
    const answers: number[] = [];
    for (const { ended } of [fast, ...slow]) void ended.then((answer) => answer && answers.push(answer.status));
    expectError(await stranger.create(LENGTH), 'SERVICE_UNAVAILABLE');
    expect(answers).toEqual([]);

    await waitFor(async () => (await stranger.create(LENGTH)).status === 201);
    await waitFor(() => answers.length === 1);
    expect(answers).toEqual([503]);
    expect(await isLocked(api, fast.path)).toBe(true);
  });
});

describe('All places among downloads', () => {
  const api = useTestApi({ settings: { ...PLACES, UPLOAD_MAX_OPEN_PER_USER: '1', UPLOAD_MAX_OPEN: '2' } });
  const userOf = (network: number) => TusUser.of(api, { 'X-Forwarded-For': `192.0.2.${network}` });

  it('that are taken by one network leave one to a stranger', async () => {
    const large = 48 * MEBIBYTE;
    const greedy = await Promise.all(times(2, () => userOf(1)));
    const connections: RawConnection[] = [];
    for (const user of greedy) {
      const path = await user.begin(large);
      expect((await user.append(path, 0, Buffer.alloc(large))).status).toBe(204);
      for (let count = 0; count < 4; count++) {
        const connection = await RawConnection.open(api.app.port);
        connections.push(
          connection.write(user.head(path, 0).replace('PATCH', 'GET').replace(' HTTP', '/content HTTP')),
        );
        await connection.stall(60_000);
      }
    }
    const stranger = await userOf(9);
    const path = await stranger.begin(LENGTH);
    await stranger.append(path, 0, Buffer.from('0123456789'));
    const answer = await stranger.client.get(`${path}/content`);
    for (const connection of connections) connection.destroy();

    expect(answer).toMatchObject({ status: 200, text: '0123456789' });
  });
});

describe('A newcomer that comes and goes', () => {
  it('ends no more requests of others than it may have places itself', async () => {
    const admission = new Admission({ perUser: PER_USER, total: TOTAL }, 'write');
    let ended = 0;
    let again = 0;
    // Else some would wait in the line a while longer than the test.
    const over = new AbortController();
    const request = (ip: string, signal?: AbortSignal) => ({ ip, work: { signal } }) as unknown as Request;
    /** Goes on until it is asked to give way, and then comes again. */
    const stay = async (user: number): Promise<void> => {
      await admission.during(user, request('192.0.2.1', over.signal), async (place) => {
        await new Promise<void>((resolve) => (place.preempt = resolve));
        ended++;
      });
    };
    for (const user of [1, 1, 2, 2, 3, 3]) void stay(user).catch(() => undefined);
    for (let time = 0; time < 20; time++) {
      const leaving = new AbortController();
      const coming = admission.during(9, request('198.51.100.1', leaving.signal), () => Promise.resolve());
      leaving.abort();
      await coming.catch(() => undefined);
      // Whoever gave way comes again.
      while (ended > 0 && again < ended) void stay(1 + (again++ % 3)).catch(() => undefined);
    }

    over.abort();
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThanOrEqual(PER_USER);
  });
});

describe('FairSlots', () => {
  /** 200 that so many networks have taken, each with as many. */
  function taken(networks: number) {
    const places = new FairSlots();
    for (let index = 0; index < 200; index++) {
      const user = index % networks;
      places.add({ user, network: `network ${user}`, preempt: () => undefined });
    }
    return places;
  }

  it('go to newcomers until each has about as many', () => {
    const places = taken(40);
    let given = 0;
    for (let index = 0; index < 400; index++) {
      const newcomer = { user: 1_000 + (index % 10), network: `newcomer ${index % 10}` };
      const other = places.forNewcomer(newcomer);
      if (!other) continue;
      places.remove(other);
      places.add(newcomer);
      given++;
    }

    // Of 50 networks with 200 places.
    expect(given).toBeGreaterThanOrEqual(30);
    expect(given).toBeLessThanOrEqual(50);
  });

  it('are taken from the slowest, and of those that are as slow from the latest', () => {
    const places = new FairSlots();
    const rates = [9_000, 500, 500, 70_000];
    const all = rates.map((rate) => ({ user: 1, network: 'a', preempt: () => undefined, bytesPerSecond: () => rate }));
    for (const place of all) places.add(place);

    expect(places.forNewcomer({ user: 2, network: 'b' })).toBe(all[2]);
  });

  it('are not taken from the fast, nor from who was not waited for, where nobody has more', () => {
    const places = new FairSlots();
    for (const [index, rate] of [70_000, rateOf(3, 9_000)].entries()) {
      places.add({ user: index, network: `network ${index}`, preempt: () => undefined, bytesPerSecond: () => rate });
    }
    const newcomer = { user: 9, network: 'newcomer' };
    expect(places.forNewcomer(newcomer)).toBeUndefined();
    places.add({
      user: 3,
      network: 'slow',
      preempt: () => undefined,
      bytesPerSecond: () => rateOf(1_200 * 20, 20_000),
    });

    expect(places.forNewcomer(newcomer)).toMatchObject({ network: 'slow' });
  });
});
