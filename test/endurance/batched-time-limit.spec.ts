import { DataSource } from 'typeorm';
import { type Client, countStatuses, statementsOf, times } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

/** Milliseconds. */
const LIMIT = 2_000;
/** Seconds: longer than the limit, the wait for an outcome and the rest of the test. */
const SLOW = 8;
const PATIENCE = 60_000;

describe('Rows that several requests write at once, in a statement that takes too long', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: String(LIMIT) } });
  let database: DataSource;
  let client: Client;
  let rows: Row[];

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    const admin = await api.admin();
    client = api.as(admin);
    const own = new Fixtures(api, admin);
    rows = await Promise.all(times(6, () => own.product({ stock: 1 })));
    await client.get(`/products/${rows[0].id}`);
    await database.query(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${SLOW}); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE UPDATE ON products FOR EACH STATEMENT EXECUTE FUNCTION dawdle()`);
  });

  it(
    'are not written after the answer',
    async () => {
      const running =
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE '%given_0%' AND wait_event = 'PgSleep'";
      const write = () => Promise.all(rows.map(({ id }) => client.patch(`/products/${id}`, { stock: 7 })));
      let statuses = {};
      const sent = await statementsOf(async () => void (statuses = countStatuses(await write())));
      expect(statuses).toEqual({ 503: rows.length });
      expect(sent.filter((text) => text.includes('given_0'))).not.toEqual([]);

      await database.query('DROP TRIGGER dawdle ON products');
      const [{ count }] = await database.query<{ count: number }[]>(running);
      expect(count).toBe(0);
      const [{ written }] = await database.query<{ written: number }[]>(
        'SELECT count(*)::int AS written FROM products WHERE stock = 7',
      );
      expect(written).toBe(0);
    },
    PATIENCE,
  );
});
