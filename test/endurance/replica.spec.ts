import { DEMO_PASSWORD } from '../../src/demo/content';
import { query, times, waitFor } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { DemoClient } from '../support/demo-client';
import { EventReader } from '../support/event-reader';
import { describeWithPostgres, PostgresCluster } from '../support/postgres-cluster';

const PATIENCE = 120_000;
const READERS = 4;
const ENOUGH_READS = 50;

describeWithPostgres('Two instances with DATABASE_REPLICA_URL', () => {
  let primary: PostgresCluster;
  let standby: PostgresCluster;
  let url: string;
  const instances: BuiltService[] = [];
  const callers: Record<string, DemoClient[]> = {};
  let names = 0;

  const start = (settings: Record<string, string> = {}) =>
    BuiltService.start({
      DATABASE_URL: url,
      DATABASE_REPLICA_URL: standby.url('service'),
      // A paused replica isn't left out.
      DATABASE_REPLICA_MAX_LAG: '3600',
      DEMO_DATA: 'true',
      MIN_FREE_DISK: '0',
      LOG_LEVEL: 'info',
      ...settings,
    });

  const on = (cluster: PostgresCluster, text: string) => query(cluster.url('service'), text);
  const anybody = (instance: BuiltService) => DemoClient.anonymous(instance.url);
  /** A caller of the second instance shows what it knows from the first. */
  const [at, beside] = [0, 1];

  beforeAll(async () => {
    primary = await PostgresCluster.start();
    url = await primary.createDatabase('service');
    standby = await primary.standby();
    instances.push(await start(), await start());
    for (const name of ['grace', 'ada', 'edsger', 'barbara']) {
      callers[name] = [await DemoClient.signIn(instances[at].url, name, DEMO_PASSWORD)];
      callers[name].push(callers[name][at].through(instances[beside].url));
    }
  }, PATIENCE);

  afterAll(async () => {
    for (const one of instances) await one.stop();
    await standby?.remove();
    await primary?.remove();
  });

  /** Pauses the replay when both instances read from the replica. */
  beforeEach(async () => {
    await resume();
    await waitFor(async () => {
      await pause();
      const found = await Promise.all(instances.map((one) => readsReplica(anybody(one))));
      const ofCaller = await readsReplica(callers.ada[beside]);
      if (found.every(Boolean) && ofCaller) return true;
      await resume();
      return false;
    });
  }, PATIENCE);
  afterEach(() => resume());

  async function pause(): Promise<void> {
    await on(standby, 'SELECT pg_wal_replay_pause()');
    await waitFor(
      async () => (await on(standby, 'SELECT pg_get_wal_replay_pause_state() AS state'))[0].state === 'paused',
    );
  }

  async function resume(): Promise<void> {
    await on(standby, 'SELECT pg_wal_replay_resume()');
  }

  /** Whether a reader doesn't see what was just written beside the service. */
  async function readsReplica(reader: DemoClient): Promise<boolean> {
    const name = `Written beside ${names++}`;
    await on(primary, `UPDATE products SET name = '${name}' WHERE id = 2`);
    return (await nameOf(reader, 2)) !== name;
  }

  const nameOf = async (reader: DemoClient, id: number) =>
    ((await reader.get(`/products/${id}`)).data as unknown as { name: string }).name;

  const namesIn = async (reader: DemoClient) => {
    const { data } = await reader.get('/products?sort=id&size=5');
    return (data as unknown as { name: string }[]).map(({ name }) => name);
  };

  it('answer items and collections from the replica', async () => {
    const before = await nameOf(anybody(instances[at]), 1);
    await on(primary, "UPDATE products SET name = 'Newest' WHERE id = 1");

    for (const instance of instances) {
      expect(await nameOf(anybody(instance), 1)).toBe(before);
      expect(await namesIn(anybody(instance))).toContain(before);
    }
    expect(await nameOf(callers.ada[beside], 1)).toBe(before);
    await resume();
    await waitFor(async () => (await nameOf(anybody(instances[beside]), 1)) === 'Newest');
  });

  it('show a caller its own write at once, whichever of them it asks; others may see what was before', async () => {
    const before = await nameOf(anybody(instances[at]), 1);
    const { status } = await callers.grace[at].patch('/products/1', { name: 'Written by grace' });

    expect(status).toBe(200);
    for (const caller of callers.grace) {
      expect(await nameOf(caller, 1)).toBe('Written by grace');
      expect(await namesIn(caller)).toContain('Written by grace');
    }
    for (const instance of instances) expect(await nameOf(anybody(instance), 1)).toBe(before);
    expect(await nameOf(callers.ada[beside], 1)).toBe(before);
  });

  it('keep the reads of many callers apart that come in one moment', async () => {
    await callers.grace[at].patch('/products/1', { name: 'Of one moment' });
    const readers = times(20, (index) => (index % 2 === 0 ? callers.grace[beside] : callers.ada[beside]));
    const found = await Promise.all(readers.map((reader) => nameOf(reader, 1)));

    expect(found.filter((name) => name === 'Of one moment')).toHaveLength(10);
  });

  const writtenBeside = async () => {
    const name = `Told ${names++}`;
    await on(primary, `UPDATE products SET name = '${name}' WHERE id = 1`);
    return name;
  };
  /** Reads it by all ways, at both instances. */
  const expectFound = async (name: string) => {
    for (const caller of callers.ada) {
      expect(await nameOf(caller, 1)).toBe(name);
      expect(await namesIn(caller)).toContain(name);
    }
  };

  it('show a caller what was committed before a mark that it has taken', async () => {
    for (const caller of callers.ada) {
      const name = await writtenBeside();
      // What is before the mark won't be told, so it must be in the copy.
      expect((await caller.get('/changes?cursor=now')).status).toBe(200);
      await expectFound(name);
    }
  });

  it('show a caller what a long poll and a stream have told it, and others may see what was before', async () => {
    const { next } = (await callers.ada[at].get('/changes?cursor=now')).data as unknown as { next: string };
    const headers = { Authorization: `Bearer ${callers.ada[at].token}`, 'Last-Event-ID': next };
    const stream = await EventReader.open(`${instances[at].url}/api/v1/changes?types=products`, headers);
    const polled = callers.ada[beside].get(`/changes?types=products&cursor=${next}&wait=30`);
    const before = await nameOf(callers.barbara[beside], 1);
    const first = await writtenBeside();
    await polled;
    await expectFound(first);
    await stream.until(1);
    const second = await writtenBeside();
    await stream.until(2);
    stream.close();

    await expectFound(second);
    expect(await nameOf(callers.barbara[beside], 1)).toBe(before);
  });

  it('show a caller why its change was refused', async () => {
    const { data } = await callers.ada[at].post('/posts', { title: 'Of ada', content: 'First' });
    const path = `/posts/${data.id}`;
    await resume();
    await waitFor(async () => (await on(standby, `SELECT id FROM posts WHERE id = ${data.id}`)).length === 1);
    await pause();
    await callers.grace[at].patch(path, { content: 'Second' });
    const refused = await callers.ada[beside].patch(path, { content: 'Third' }, { 'If-Match': '"1"' });

    expect(refused.status).toBe(412);
    expect((await callers.ada[at].get(path)).data).toMatchObject({ version: 2, content: 'Second' });
  });

  it('withdraw rights at the next request, whatever the replica shows', async () => {
    const { data } = await callers.edsger[at].get('/users/profile');
    await callers.grace[at].patch(`/users/${data.id}`, { status: 'SUSPENDED' });

    expect((await callers.edsger[beside].get('/users/profile')).status).toBe(401);
    expect((await callers.edsger[at].get('/products/1')).status).toBe(401);
    await callers.grace[at].patch(`/users/${data.id}`, { status: 'ACTIVE' });
  });

  it('show a new user its own account', async () => {
    const account = { username: 'newcomer', email: 'newcomer@example.com', password: 'correct horse battery staple' };
    const { status } = await anybody(instances[at]).post('/users', account);
    const caller = await DemoClient.signIn(instances[beside].url, account.username, account.password);

    expect(status).toBe(201);
    for (const one of instances) expect((await caller.through(one.url).get('/users/profile')).status).toBe(200);
  });

  it('read the primary where a controller says so', async () => {
    const path = await callers.barbara[at].upload(Buffer.from('some bytes'));
    await on(primary, "UPDATE uploads SET filename = 'newest.txt'");

    expect((await callers.barbara[beside].get(path!)).data).toMatchObject({ filename: 'newest.txt' });
  });

  it('show a caller its own write when the primary has lost the positions in a crash', async () => {
    await callers.grace[at].patch('/products/1', { name: 'Before the crash' });
    await on(primary, 'TRUNCATE write_positions');

    for (const caller of callers.grace) expect(await nameOf(caller, 1)).toBe('Before the crash');
  });

  it('leave a replica out that lags', async () => {
    const strict = await start({ DATABASE_REPLICA_MAX_LAG: '1' });
    instances.push(strict);
    try {
      await on(primary, "UPDATE products SET name = 'Up to date' WHERE id = 1");

      await waitFor(async () => (await nameOf(anybody(strict), 1)) === 'Up to date');
    } finally {
      await instances.pop()!.stop();
    }
  });

  it(
    'fail no read when the replica dies, stay ready, start without it, and use it again when it is back',
    async () => {
      await resume();
      const statuses: number[] = [];
      let reading = true;
      const readers = times(READERS, async (index) => {
        const reader = index % 2 === 0 ? anybody(instances[index / 2]) : callers.ada[beside];
        while (reading) for (const path of ['/products/1', '/products']) statuses.push((await reader.get(path)).status);
      });
      await waitFor(() => statuses.length > ENOUGH_READS);
      await standby.kill();
      const before = statuses.length;
      await waitFor(() => statuses.length > before + ENOUGH_READS);

      for (const { url: one } of instances) expect((await fetch(`${one}/health/ready`)).status).toBe(200);
      const another = await start();
      expect((await anybody(another).get('/products/1')).status).toBe(200);
      await another.stop();
      await standby.begin();
      reading = false;
      await Promise.all(readers);
      expect(new Set(statuses)).toEqual(new Set([200]));
      await waitFor(async () => {
        await pause();
        const used = await readsReplica(anybody(instances[at]));
        await resume();
        return used;
      });
    },
    PATIENCE,
  );
});
