import { DataSource } from 'typeorm';
import { CountedTables1767530000000 } from '../../src/platform/database/migrations/1767530000000-counted-tables';
import { NumberedMoves1767730000000 } from '../../src/platform/database/migrations/1767730000000-numbered-moves';
import { RowLock } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { TestApi, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

/** What the list believes of the counts that it reads, more than there are. */
const INVENTED = 40;

describe('How the rows of a table are counted', () => {
  const api = useTestApi();
  const query = (text: string) => api.app.nest.get(DataSource).query<Record<string, unknown>[]>(text);

  /** The totals of an instance that starts now. */
  async function totals(): Promise<{ all: number; active: number }> {
    const later = new TestApi();
    later.app = await startApp({ databaseUrl: api.app.databaseUrl });
    try {
      const totalOf = async (path: string) => (await later.get(path)).body.pagination.total as number;
      return { all: await totalOf('/products'), active: await totalOf('/products?status=ACTIVE') };
    } finally {
      await later.app.stop();
    }
  }

  /** As the trigger was before it said what is counted. */
  const forget = () =>
    query(
      `CREATE OR REPLACE TRIGGER products_count_added AFTER INSERT ON products REFERENCING NEW TABLE AS added
          FOR EACH STATEMENT EXECUTE FUNCTION products_count()`,
    );
  const said = async () =>
    (await query("SELECT encode(tgargs, 'escape') AS args FROM pg_trigger WHERE tgname = 'products_count_added'"))[0];

  async function migrate(direction: 'up' | 'down'): Promise<void> {
    await api.app.nest
      .get(DataSource)
      .transaction(({ queryRunner }) => new CountedTables1767530000000()[direction](queryRunner!));
  }

  beforeAll(async () => {
    await api.as(await api.admin()).post('/products', aProduct());
    await query(`UPDATE row_counts SET rows = rows + ${INVENTED} WHERE table_name = 'products' AND status = 'ACTIVE'`);
  });

  it('is said by the arguments of its trigger, whatever the text of the function', async () => {
    const [{ source }] = await query("SELECT pg_get_functiondef('products_count'::regproc) AS source");
    await query(String(source).replaceAll('status AS status', 'status  AS  status').replaceAll('IS NULL', 'IS  NULL'));

    expect(await totals()).toEqual({ all: 1 + INVENTED, active: 1 + INVENTED });
    await query(String(source));
  });

  it('is found by looking where the trigger does not say it', async () => {
    await forget();

    expect(await totals()).toEqual({ all: 1, active: 1 });
  });

  it('is said by the migration for tables that an earlier release has counted', async () => {
    await forget();
    await migrate('up');

    expect(await totals()).toEqual({ all: 1 + INVENTED, active: 1 + INVENTED });
    expect(await said()).toEqual({ args: 'status\\000deleted_at\\000' });
  });

  it('stays as it is when the migration finds it said, or is taken back', async () => {
    const before = await query("SELECT oid FROM pg_trigger WHERE tgname LIKE '%count_added' ORDER BY oid");
    await migrate('down');
    await migrate('up');

    expect(await query("SELECT oid FROM pg_trigger WHERE tgname LIKE '%count_added' ORDER BY oid")).toEqual(before);
    expect(await said()).toEqual({ args: 'status\\000deleted_at\\000' });
  });

  it('loses no count, and keeps none that nobody needs, when an instance starts', async () => {
    const countsOf = (table: string) =>
      query(`SELECT count(*)::int AS slots, sum(rows)::int AS rows FROM row_counts WHERE table_name = '${table}'`);
    const [{ rows }] = await countsOf('products');
    const pid = '(SELECT max(pid) + 1 FROM pg_stat_activity)';
    await query(
      `INSERT INTO row_counts
         SELECT 'products', 'ACTIVE', 64 + ${pid} + slot, 1 - 2 * (slot % 2) FROM generate_series(1, 50) AS slot`,
    );
    await query("INSERT INTO row_counts VALUES ('gone', '', 3, 7)");

    expect(await totals()).toEqual({ all: 1 + INVENTED, active: 1 + INVENTED });
    const [products] = await countsOf('products');
    expect(products.rows).toBe(rows);
    expect(products.slots).toBeLessThan(50);
    expect(await countsOf('gone')).toEqual([{ slots: 0, rows: null }]);
  });

  it('tells from the migration on when rows move, and not before', async () => {
    const [{ counts }] = await query("SELECT pg_get_functiondef('products_count'::regproc) AS counts");
    const [{ changes }] = await query("SELECT pg_get_functiondef('products_count_change'::regproc) AS changes");
    // As an earlier release has left them.
    await query('ALTER TABLE row_counts DROP COLUMN moved');
    for (const text of [counts, changes]) await query(String(text).replaceAll(', moved = excluded.moved', ''));
    await api.app.nest
      .get(DataSource)
      .transaction(({ queryRunner }) => new NumberedMoves1767730000000().up(queryRunner!));
    // One connection, and so one slot of each status.
    const runner = api.app.nest.get(DataSource).createQueryRunner();
    const moves = async (text: string) => {
      await runner.query(text);
      const rows: { moves: number }[] = await runner.query(
        "SELECT sum(moved)::int AS moves FROM row_counts WHERE table_name = 'products'",
      );
      return rows[0].moves;
    };
    const add = "INSERT INTO products (name, price) VALUES ('Moved', 1)";
    const change = (values: string) => `UPDATE products SET ${values} WHERE name = 'Moved'`;
    await moves(add);
    const before = await moves(change("status = 'DISCONTINUED'"));

    expect(await moves(add)).toBe(before);
    expect(await moves(change("status = 'ACTIVE', price = 2"))).toBe(before);
    const hidden = await moves(change('deleted_at = now()'));
    expect(hidden).toBeGreaterThan(before);
    const shown = await moves(change('deleted_at = NULL'));
    expect(shown).toBeGreaterThan(hidden);
    const moved = await moves(change("id = nextval(pg_get_serial_sequence('products', 'id'))"));
    expect(moved).toBeGreaterThan(shown);
    expect(await moves("DELETE FROM products WHERE name = 'Moved'")).toBeGreaterThan(moved);
    await runner.release();
    await migrate('up');
  });

  it('is renewed beside a transaction that writes first one table and then others', async () => {
    await query('ALTER TABLE row_counts DROP COLUMN moved');
    const writer = await RowLock.ofWriters(api.app.databaseUrl, 'products');
    const renewed = api.app.nest
      .get(DataSource)
      .transaction(({ queryRunner }) => new NumberedMoves1767730000000().up(queryRunner!));
    await writer.awaitedBy(1);
    // With their counts, which the migration has changed already.
    await writer.change(
      `WITH added AS (INSERT INTO products (name, price) VALUES ('Beside', 1))
       UPDATE users SET name = 'Beside' WHERE id > $1`,
      [0],
    );

    await renewed;
    expect(await query('SELECT sum(moved) > 0 AS numbered FROM row_counts')).toEqual([{ numbered: true }]);
    await query("DELETE FROM products WHERE name = 'Beside'");
    await writer.release();
  });

  it('goes on in the same way after the migration', async () => {
    await query("INSERT INTO products (name, price) VALUES ('Another', 1)");

    expect(await totals()).toEqual({ all: 2 + INVENTED, active: 2 + INVENTED });
  });
});
