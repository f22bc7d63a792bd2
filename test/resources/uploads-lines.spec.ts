import { DataSource } from 'typeorm';
import { RowLock, times, waitFor } from '../../src/platform/testing';
import { syncing } from '../../src/uploads/bytes/disk-store';
import type { Holder } from '../../src/uploads/fair-slots';
import { TURN_BYTES, UploadThrottle } from '../../src/uploads/tus/upload-throttle';
import { UploadRows } from '../../src/uploads/upload-rows';
import { useTestApi } from '../support/test-api';
import { TusUser } from '../support/tus';

/** Accounts of one block of addresses. */
const CROWD = 24;
/** Uploads of a user that may be under way at once. */
const OF_USER = 5;
/** Connections of the pool that one user holds at most. */
const SHARE = 6;
/** How many of one network are at work at once in each line. */
const AT_WORK = 2;
/** The stranger's place at the latest: some requests at work may overtake others on their way. */
const SOON = 6;
const BYTES = Buffer.from('0123456789');

describe('A stranger, where many accounts of one network fill the line', () => {
  const api = useTestApi({
    settings: { MIN_FREE_DISK: '0', TRUST_PROXY: '1', REQUEST_TIMEOUT: '60000', DATABASE_POOL_SIZE: '10' },
  });
  let crowd: TusUser[];
  let stranger: TusUser;

  beforeAll(async () => {
    const userOf = (address: string) => TusUser.of(api, { 'X-Forwarded-For': address });
    crowd = await Promise.all(times(CROWD, (index) => userOf(`192.0.2.${index + 1}`)));
    stranger = await userOf('198.51.100.1');
  });

  /** Lets the crowd do it, then the stranger, and all go on when all of them wait. Resolves with what the crowd is answered. */
  async function queue(waiting: () => number, most: number, act: (user: TusUser) => Promise<{ status: number }>) {
    const answers = crowd.map(act);
    await waitFor(() => waiting() === most);
    const its = act(stranger);
    await waitFor(() => waiting() === most + 1);
    return { answers: [...answers, its] };
  }

  /** Whose uploads were written, in their order. */
  const writers = async (paths: string[], order: string) => {
    const rows = await api.app.nest
      .get(DataSource)
      .query<{ user_id: number }[]>(`SELECT user_id FROM uploads WHERE key = ANY($1) ORDER BY ${order}`, [
        paths.map((path) => path.split('/').at(-1)),
      ]);
    return rows.map(({ user_id }) => user_id);
  };

  it('for creations has a place of its own', async () => {
    const lock = await RowLock.ofWrites(api.app.databaseUrl, 'uploads');
    const creating = api.app.nest.get(UploadRows)['creating'];
    const paths: string[] = [];
    const create = async (user: TusUser) => {
      const answer = await user.create(BYTES.length);
      paths.push(`/uploads/${answer.body.data.key}`);
      return answer;
    };
    const answers = crowd.map(create);
    await waitFor(() => creating['queue'].size === CROWD - AT_WORK);
    await lock.awaitedBy(AT_WORK);
    answers.push(create(stranger));
    await lock.awaitedBy(AT_WORK + 1);
    await lock.release();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(201);

    expect((await writers(paths, 'id')).indexOf(stranger.user.id)).toBeLessThan(SOON);
  });

  it('creates an upload while those of another network wait for connections of their own', async () => {
    const [greedy] = crowd;
    const lock = await RowLock.of(api.app.databaseUrl, 'users', greedy.user.id);
    const changes = times(SHARE, () => greedy.client.patch(`/users/${greedy.user.id}`, { name: 'Slow' }));
    await lock.awaitedBy(SHARE);
    const waiting = times(OF_USER, () => greedy.create(BYTES.length));
    const creating = api.app.nest.get(UploadRows)['creating'];
    await waitFor(() => creating['queue'].size === OF_USER - AT_WORK);

    expect(await stranger.create(BYTES.length)).toMatchObject({ status: 201 });
    await lock.release();
    for (const answer of await Promise.all([...changes, ...waiting])) expect([200, 201]).toContain(answer.status);
  });

  it('for commits has its turn after one of them', async () => {
    const everybody = [...crowd, stranger];
    const paths = await Promise.all(everybody.map((user) => user.begin(BYTES.length)));
    const lock = await RowLock.ofWrites(api.app.databaseUrl, 'uploads');
    const writing = api.app.nest.get(UploadRows)['writing'];
    const append = (user: TusUser) => user.append(paths[everybody.indexOf(user)], 0, BYTES);
    const { answers } = await queue(() => writing['queue'].size, CROWD - AT_WORK, append);
    await lock.release();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(204);

    expect((await writers(paths, 'updated_at')).indexOf(stranger.user.id)).toBeLessThan(SOON);
  });

  it('for the disk has its turn after one of them', async () => {
    const everybody = [...crowd, stranger];
    const paths = await Promise.all(everybody.map((user) => user.begin(BYTES.length)));
    let free = () => undefined as void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const held = times(AT_WORK, () => syncing.run(() => freed));
    const append = (user: TusUser) => user.append(paths[everybody.indexOf(user)], 0, BYTES);
    const { answers } = await queue(() => syncing['queue'].size, CROWD, append);
    free();
    for (const answer of await Promise.all([...answers, ...held])) if (answer) expect(answer.status).toBe(204);

    expect((await writers(paths, 'updated_at')).indexOf(stranger.user.id)).toBeLessThan(CROWD / 2);
  });
});

describe('UploadThrottle of uploads', () => {
  /** In which order so many turns of each are had. */
  async function orderOf(holders: Holder[], turns: number) {
    const order: string[] = [];
    const first = UploadThrottle.take({ network: 'first', user: 0 }, TURN_BYTES);
    const take = async (holder: Holder) => {
      await UploadThrottle.take(holder, TURN_BYTES);
      order.push(`${holder.network}${holder.user}`);
    };
    await Promise.all([first, ...holders.flatMap((holder) => times(turns, () => take(holder)))]);
    return order;
  }

  it('are shared among networks, and within a network among its users', async () => {
    const holders = [1, 2, 3].map((user) => ({ network: 'a', user }));
    const order = await orderOf([...holders, { network: 'b', user: 4 }], 3);

    expect(order.slice(0, 6)).toEqual(['a1', 'b4', 'a2', 'b4', 'a3', 'b4']);
    expect(order.slice(6)).toEqual(['a1', 'a2', 'a3', 'a1', 'a2', 'a3']);
  });
});
