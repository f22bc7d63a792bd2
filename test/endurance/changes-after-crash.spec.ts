import { Client as Connection } from 'pg';
import { DEMO_PASSWORD } from '../../src/demo/content';
import { query, waitFor } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { BuiltService } from '../support/built-service';
import { DemoClient } from '../support/demo-client';
import { describeWithPostgres, PostgresCluster } from '../support/postgres-cluster';

const PATIENCE = 60_000;
const CRASHES = 4;
/** What no transaction has waited for gets to the disk after ten seconds. */
const LATE = { wal_writer_delay: '10s' };
const UNSEEN = "INSERT INTO products (name, price, stock) VALUES ('Never', 1, 1), ('Neither', 1, 1)";
const SEQUENCE = 'SELECT last_value::integer AS last, log_cnt::integer AS unlogged FROM audit_events_id_seq';

interface Feed {
  changes: { id: number }[];
  next: string;
}

describeWithPostgres('The feed of changes', () => {
  let database: PostgresCluster;
  let url: string;
  let service: BuiltService;
  let admin: DemoClient;

  beforeAll(async () => {
    database = await PostgresCluster.start(LATE);
    url = await database.createDatabase('service');
    service = await BuiltService.start({ DATABASE_URL: url, DEMO_DATA: 'true', MIN_FREE_DISK: '0', LOG_LEVEL: 'info' });
    admin = await DemoClient.signIn(service.url, 'grace', DEMO_PASSWORD);
  }, PATIENCE);

  afterAll(async () => {
    await service?.stop();
    await database?.remove();
  });

  const product = async () => (await admin.post('/products', aProduct())).data?.id;
  const feed = async (cursor: string) =>
    (await admin.get(`/changes?types=products&cursor=${cursor}`)).data as unknown as Feed;
  const idsSince = async (mark: string) => (await feed(mark)).changes.map(({ id }) => id);
  const sequence = async () => (await query(url, SEQUENCE))[0] as unknown as { last: number; unlogged: number };

  async function crash(): Promise<void> {
    // PostgreSQL writes each 32nd number of events to its log. So the next is written by a transaction that nobody waits for.
    await waitFor(async () => (await product()) > 0 && (await sequence()).unlogged === 0);
    await query(url, `BEGIN; ${UNSEEN}; ROLLBACK`);
    const { next } = await feed('now');
    await database.kill();
    await database.begin();
    await waitFor(() => product().then(Boolean, () => false));
    const made = await product();

    expect(await idsSince(next)).toContain(made);
  }

  it(
    'has no mark after numbers that a crash of PostgreSQL takes back, and so tells what gets them again',
    async () => {
      // A page of the log that happens to be full gets to the disk at once, so one crash may take nothing back.
      for (let crashes = 0; crashes < CRASHES; crashes++) await crash();
    },
    PATIENCE,
  );

  it(
    'tells what is committed while a standby confirms nothing, and the rest as soon as it is committed',
    async () => {
      const { next } = await feed('now');
      const before = await product();
      await query(url, "ALTER SYSTEM SET synchronous_standby_names = 'missing'");
      await query(url, 'SELECT pg_reload_conf()');
      await waitFor(async () => (await query(url, 'SHOW synchronous_standby_names'))[0].synchronous_standby_names);
      const told = [await idsSince(next)];
      const { last } = await sequence();
      const writing = product();
      await waitFor(async () => (await sequence()).last > last);
      told.push(await idsSince(next));
      await query(url, 'ALTER SYSTEM RESET synchronous_standby_names');
      await query(url, 'SELECT pg_reload_conf()');
      const made = await writing;
      await waitFor(async () => (await idsSince(next)).includes(made));

      expect(told).toEqual([[before], [before]]);
    },
    PATIENCE,
  );

  it(
    'waits for writers of another server that takes over with fewer events, though that has given more meanwhile',
    async () => {
      const { next } = await feed('now');
      const { last } = await sequence();
      await product();
      await feed('now');
      await query(
        url,
        `SET session_replication_role = 'replica'; DELETE FROM audit_events WHERE id > ${last};
         SELECT setval('audit_events_id_seq', ${last})`,
      );
      await database.kill();
      await database.begin();
      const writer = new Connection({ connectionString: url });
      await writer.connect();
      await writer.query(`BEGIN; ${UNSEEN}`);
      await query(url, UNSEEN);
      await waitFor(async () => (await admin.get('/products?size=1').catch(() => undefined))?.status === 200);
      const meanwhile = await feed(next);
      await writer.query('COMMIT');
      await writer.end();

      expect([...meanwhile.changes, ...(await idsSince(meanwhile.next))]).toHaveLength(4);
    },
    PATIENCE,
  );
});
