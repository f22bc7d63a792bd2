import { Pool, type PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { type CountedTable, countRows, uncountRows } from '../../src/platform/rows/count-rows';
import { countedRows } from '../../src/platform/rows/counted-tables';
import { countStatuses, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { TestApi, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const WRITERS = 24;
const STATEMENTS = 20_000;

const SOME_ROW =
  '(SELECT id FROM products WHERE id >= (SELECT floor(random() * max(id)) FROM products) ORDER BY id LIMIT 1)';
/** Each takes a row at random; of many that want the same one, some find it gone or changed. */
const CHANGES = [
  `INSERT INTO products (name, price, status)
   SELECT 'Counted', n, CASE n % 3 WHEN 0 THEN 'ACTIVE' ELSE 'DISCONTINUED' END FROM generate_series(0, (random() * 3)::int) AS n`,
  `DELETE FROM products WHERE id = ${SOME_ROW}`,
  `UPDATE products SET status = CASE status WHEN 'ACTIVE' THEN 'DISCONTINUED' ELSE 'ACTIVE' END WHERE id = ${SOME_ROW}`,
  `UPDATE products SET deleted_at = CASE WHEN deleted_at IS NULL THEN now() END WHERE id = ${SOME_ROW}`,
  `UPDATE products SET stock = stock + 1 WHERE id = ${SOME_ROW}`,
];
const oneOf = <T>(list: T[]): T => list[Math.floor(Math.random() * list.length)];

describe('The counted rows', () => {
  const api = useTestApi();
  let pool: Pool;

  beforeAll(() => {
    pool = new Pool({ connectionString: api.app.databaseUrl, max: WRITERS });
    // Some of the connections are going to be killed.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  });

  afterAll(() => pool.end());

  const database = () => api.app.nest.get(DataSource);

  /** Whatever a migration has counted. */
  async function countedTables(): Promise<string[]> {
    const rows = await database().query<{ name: string }[]>(
      `SELECT replace(tgname, '_count_added', '') AS name FROM pg_trigger WHERE tgname LIKE '%\\_count\\_added'`,
    );
    return rows.map(({ name }) => name);
  }

  async function expectExact(): Promise<void> {
    const tables = await countedTables();
    expect(tables).toEqual(expect.arrayContaining(['users', 'products', 'orders']));
    for (const table of tables) {
      const { columns, deleteDateColumn } = database().entityMetadatas.find(({ tableName }) => tableName === table)!;
      const group = columns.some(({ databaseName }) => databaseName === 'status') ? 'status' : "''";
      const present = deleteDateColumn ? 'deleted_at IS NULL' : 'true';
      const groups = await database().query<{ status: string; rows: number }[]>(
        `SELECT ${group} AS status, count(*) AS rows FROM ${table} WHERE ${present} GROUP BY 1`,
      );
      for (const { status, rows } of groups)
        expect([table, status, await countedRows(database(), table, status)]).toEqual([table, status, rows]);
      const total = groups.reduce((sum, { rows }) => sum + rows, 0);
      expect([table, await countedRows(database(), table)]).toEqual([table, total]);
    }
  }

  /** A transaction of one or two changes, some of which are taken back. */
  async function write(client: PoolClient): Promise<void> {
    await client.query('BEGIN');
    await client.query(oneOf(CHANGES));
    if (Math.random() < 0.3) {
      await client.query('SAVEPOINT half');
      await client.query(oneOf(CHANGES));
      if (Math.random() < 0.5) await client.query('ROLLBACK TO half');
    }
    await client.query(Math.random() < 0.2 ? 'ROLLBACK' : 'COMMIT');
  }

  /** What failed, by SQLSTATE. */
  async function writeOften(count: number): Promise<string[]> {
    const failures: string[] = [];
    for (let done = 0; done < count; done++) {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        await write(client);
      } catch (error) {
        failure = error as Error;
        failures.push((error as { code?: string }).code ?? failure.message);
      }
      client.release(failure);
    }
    return failures;
  }

  it('are those that there are after thousands of concurrent changes', async () => {
    const failures = (await Promise.all(times(WRITERS, () => writeOften(STATEMENTS / WRITERS)))).flat();

    // Two that change the same rows in another order may deadlock on the rows; that is theirs, not the counts'.
    expect(failures.filter((code) => code !== '40P01')).toEqual([]);
    expect(failures.length).toBeLessThan(STATEMENTS / 20);
    await expectExact();
  }, 240_000);

  it('are exact while connections are killed in the middle', async () => {
    const writers = Promise.all(times(WRITERS, () => writeOften(40)));
    const kills = times(30, async () => {
      const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%products%' ORDER BY random() LIMIT 1`;
      await api.app.nest
        .get(DataSource)
        .query(text)
        .catch(() => undefined);
    });
    await Promise.all(kills);
    await writers;

    await expectExact();
  }, 120_000);

  it('are what a list says, for all and for a status', async () => {
    const owner = await api.admin();
    const own = new Fixtures(api, owner);
    await Promise.all(times(5, () => own.order({ status: 'PAID' })));
    const admin = api.as(owner);

    for (const [path, table, where] of [
      ['/products', 'products', 'deleted_at IS NULL'],
      ['/products?status=ACTIVE', 'products', "deleted_at IS NULL AND status = 'ACTIVE'"],
      ['/users?status=SUSPENDED', 'users', "status = 'SUSPENDED'"],
      ['/orders?status=PAID', 'orders', "status = 'PAID'"],
      ['/orders', 'orders', 'true'],
    ]) {
      const [{ rows }] = await api.app.nest
        .get(DataSource)
        .query<{ rows: number }[]>(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`);
      expect([path, (await admin.get(path)).body.pagination.total]).toEqual([path, rows]);
    }
  });

  it('let deep pages be read from the nearer end, and say the same', async () => {
    await pool.query("INSERT INTO products (name, price) SELECT 'Deep', n % 7 FROM generate_series(1, 3000) AS n");
    const { rows } = await pool.query<{ id: number }>(
      'SELECT id FROM products WHERE deleted_at IS NULL ORDER BY price DESC, id DESC',
    );
    const ids = rows.map(({ id }) => Number(id));
    const last = Math.ceil(ids.length / 50) - 1;
    for (const page of [0, 20, 21, Math.floor(last / 2), last - 1, last, last + 1, 2 ** 31 - 1]) {
      const { body } = await api.get(`/products?sort=price&order=desc&size=50&page=${page}`);
      expect([page, body.data.map(({ id }: { id: number }) => id)]).toEqual([
        page,
        ids.slice(page * 50, page * 50 + 50),
      ]);
      expect(body.pagination.total).toBe(ids.length);
    }
  });

  it('begin anew with a table that is emptied at once', async () => {
    await pool.query('TRUNCATE products CASCADE');
    await expectExact();
    expect((await api.get('/products')).body.pagination.total).toBe(0);
    expect(countStatuses([await api.get('/products?page=9')])).toEqual({ 200: 1 });
  });

  describe('of a table that a migration', () => {
    /** What lists say once the service has started on a database that a migration has just changed. */
    async function totalsAfter(migration: (table: string) => Promise<void>): Promise<Record<string, number>> {
      await migration('products');
      const later = new TestApi();
      later.app = await startApp({ databaseUrl: api.app.databaseUrl });
      try {
        const totalOf = async (path: string) => (await later.get(path)).body.pagination.total as number;
        return {
          all: await totalOf('/products'),
          active: await totalOf('/products?status=ACTIVE'),
          discontinued: await totalOf('/products?status=DISCONTINUED'),
        };
      } finally {
        await later.app.stop();
      }
    }

    const count = (how?: CountedTable) => (table: string) =>
      database().transaction(({ queryRunner }) => countRows(queryRunner!, table, how));
    const uncount = (table: string) => database().transaction(({ queryRunner }) => uncountRows(queryRunner!, table));
    const counts = async () =>
      (await pool.query<object>("SELECT status, rows FROM row_counts WHERE table_name = 'products'")).rows;
    const there = { all: 3, active: 2, discontinued: 1 };

    beforeAll(async () => {
      await pool.query('TRUNCATE products CASCADE');
      await pool.query(
        `INSERT INTO products (name, price, status, deleted_at) VALUES ('One', 1, 'ACTIVE', NULL), ('Two', 1, 'ACTIVE', NULL),
           ('Three', 1, 'DISCONTINUED', NULL), ('Four', 1, 'ACTIVE', now())`,
      );
    });

    it('has ceased to count are found by looking', async () => {
      expect(await totalsAfter(uncount)).toEqual(there);
      expect(await counts()).toEqual([]);
      expect(await countedTables()).not.toContain('products');
      // Again, as of a table that was never counted.
      await uncount('products');
    });

    it('counts without its statuses, or with rows that are hidden, are found by looking where that matters', async () => {
      expect(await totalsAfter(count({ deleted_at: true }))).toEqual(there);
      expect(await counts()).toEqual([{ status: '', rows: 3 }]);
      expect(await totalsAfter(count({ status: true }))).toEqual(there);
    });

    it('counts again are those that there are, once', async () => {
      await count({ status: true, deleted_at: true })('products');
      await count({ status: true, deleted_at: true })('products');
      await expectExact();
      // No longer looked at: the list believes what is written here.
      await pool.query("UPDATE row_counts SET rows = rows + 40 WHERE table_name = 'products' AND status = 'ACTIVE'");
      expect(await totalsAfter(() => Promise.resolve())).toEqual({ all: 43, active: 42, discontinued: 1 });
    });

    it('counts no more leave nothing behind when the table goes', async () => {
      await pool.query('CREATE TABLE short_lived (id bigint)');
      await count()('short_lived');
      await pool.query('INSERT INTO short_lived VALUES (1), (2)');
      expect(await countedRows(database(), 'short_lived')).toBe(2);
      await pool.query('DROP TABLE short_lived');
      await uncount('short_lived');

      expect(await countedRows(database(), 'short_lived')).toBe(0);
      const left = await pool.query("SELECT proname FROM pg_proc WHERE proname LIKE 'short_lived%'");
      expect(left.rows).toEqual([]);
    });
  });
});
