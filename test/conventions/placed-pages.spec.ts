import fc from 'fast-check';
import { DataSource, type QueryRunner } from 'typeorm';
import { findCountedTables } from '../../src/platform/rows/counted-tables';
import { type Answer, statementsOf, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

/** From this many rows before it on a page is deep. */
const DEEP = 1_000;
const ROWS = 3 * DEEP;
const PROGRAMS = 10;
const SIZE = 20;

interface Listed {
  data: { id: number }[];
  pagination: { total: number };
}

type Step =
  | { kind: 'read'; from: number; size: number; order: 'asc' | 'desc' }
  | { kind: 'add'; rows: number }
  | { kind: 'swap' | 'remove' | 'hide' | 'show' | 'mark' | 'move' | 'put'; at: number }
  | { kind: 'hold' | 'let' | 'tidy' | 'truncate' };

const ADDED = "INSERT INTO products (name, price) SELECT 'Placed', 1 FROM generate_series(1, $1::integer)";
/** The row at a part of the table, hidden or not. */
const ROW = `(SELECT id FROM products ORDER BY id OFFSET (SELECT floor(count(*) * $1::float8) FROM products) LIMIT 1)`;
const CHANGES: Record<string, string> = {
  remove: `DELETE FROM products WHERE id = ${ROW}`,
  hide: `UPDATE products SET deleted_at = now() WHERE id = ${ROW}`,
  show: `UPDATE products SET deleted_at = NULL WHERE deleted_at IS NOT NULL AND $1::float8 IS NOT NULL`,
  mark: `UPDATE products SET status = CASE status WHEN 'ACTIVE' THEN 'DISCONTINUED' ELSE 'ACTIVE' END WHERE id = ${ROW}`,
  move: `UPDATE products SET id = nextval(pg_get_serial_sequence('products', 'id')) WHERE id = ${ROW}`,
  swap: `WITH gone AS (DELETE FROM products WHERE id = ${ROW}) INSERT INTO products (name, price) VALUES ('Placed', 1)`,
  // Before all others, where no row was.
  put: `INSERT INTO products (id, name, price) SELECT min(id) - 1, 'Placed', 1 FROM products WHERE $1::float8 IS NOT NULL`,
};

/** As many as there were, at once. */
const ALL = `INSERT INTO products (name, price) SELECT 'Placed', 1 FROM generate_series(1, ${ROWS - 1})`;
/** Has a slot of a backend that has ended, which the next start tidies up. */
const FORGOTTEN =
  "INSERT INTO row_counts (table_name, status, slot, rows) VALUES ('products', 'ACTIVE', 1000000000, 0)";

/** The sequence of the numbers of moves. */
const NUMBERS = 'row_counts_moved_seq';

const part = fc.double({ min: 0, max: 0.999, noNaN: true });
const read = fc.record({
  kind: fc.constant('read' as const),
  // Rows are added at the end, and so are most of the pages.
  from: fc.oneof(fc.double({ min: 0.3, max: 1.01, noNaN: true }), fc.double({ min: 0.95, max: 1, noNaN: true })),
  size: fc.constantFrom(1, 7, 20, 100),
  order: fc.constantFrom('asc' as const, 'asc' as const, 'desc' as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: read },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), rows: fc.constantFrom(1, 1, 3, 40, 700, 1_500) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'remove' as const,
        'hide' as const,
        'show' as const,
        'mark' as const,
        'move' as const,
        'put' as const,
      ),
      at: part,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('hold' as const, 'hold' as const, 'let' as const, 'let' as const, 'tidy' as const),
    }),
  },
);

describe('A deep page that is read from a place of an earlier one', () => {
  const api = useTestApi();
  let database: DataSource;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    // Leaves room for ids before those of all rows.
    await database.query("SELECT setval(pg_get_serial_sequence('products', 'id'), 10000)");
  });

  beforeEach(async () => {
    await database.query('DELETE FROM products');
    await database.query(ADDED, [ROWS]);
    await database.query('ANALYZE products');
  });

  const idsOf = ({ body }: Answer) => (body as unknown as Listed).data.map(({ id }) => id);
  const page = (number: number, size: number, order = 'asc') =>
    api.get(`/products?page=${number}&size=${size}&sort=id&order=${order}`);

  async function expectPage(number: number, size: number, order = 'asc'): Promise<void> {
    const answer = await page(number, size, order);
    const rows = await database.query<{ id: number }[]>(
      `SELECT id FROM products WHERE deleted_at IS NULL ORDER BY id ${order} LIMIT ${size} OFFSET ${number * size}`,
    );
    expect(idsOf(answer)).toEqual(rows.map(({ id }) => id));
    expect((answer.body as unknown as Listed).pagination.total).toBe(await present());
  }

  async function present(): Promise<number> {
    const text = 'SELECT count(*)::int AS total FROM products WHERE deleted_at IS NULL';
    const [{ total }] = await database.query<{ total: number }[]>(text);
    return total;
  }

  /** Transactions that have added a row, and end later. */
  const held: QueryRunner[] = [];
  async function hold(): Promise<void> {
    const runner = database.createQueryRunner();
    held.push(runner);
    await runner.startTransaction();
    await runner.query(ADDED, [1]);
  }
  async function letGo(): Promise<void> {
    const runner = held.shift();
    await runner?.commitTransaction();
    await runner?.release();
  }

  async function take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'read':
        return expectPage(Math.floor((one.from * (await present())) / one.size), one.size, one.order);
      case 'add':
        return void (await database.query(ADDED, [one.rows]));
      case 'hold':
        return held.length < 3 ? hold() : undefined;
      case 'let':
        return letGo();
      case 'tidy':
        return findCountedTables(database);
      case 'truncate':
        return void (await database.query('TRUNCATE products CASCADE'));
      default:
        return void (await database.query(CHANGES[one.kind], [one.at]));
    }
  }

  it('has the rows that are there, whatever has come, gone and moved in between', async () => {
    const program = fc.array(step, { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(program, async (steps) => {
        try {
          for (const one of steps) await take(one);
        } finally {
          while (held.length > 0) await letGo();
        }
      }),
      { numRuns: PROGRAMS, endOnFailure: true },
    );
  }, 180_000);

  /** The statements for a page that is read from a known place. */
  const statementsFor = (number: number, order?: string) => statementsOf(() => page(number, SIZE, order));

  it.each([
    ['is added', ADDED, [3]],
    ['changes its status', CHANGES.mark, [0.1]],
    ['changes its price', `UPDATE products SET price = price + 1 WHERE id = ${ROW}`, [0.1]],
  ])('costs one statement, also after a row %s', async (_what, text, values) => {
    await page(60, SIZE);
    await database.query(text, values);

    for (const number of [60, 61, 59]) expect(await statementsFor(number)).toHaveLength(1);
    expect(await statementsFor(60)).toEqual([expect.not.stringMatching(/"edition of rows"/)]);
  });

  it('costs one statement when many rows were added', async () => {
    await page(60, SIZE);
    for (const rows of [600, 600, 600]) {
      await database.query(ADDED, [rows]);
      await expectPage(61, SIZE);
      await expectPage(61, SIZE, 'desc');
    }

    expect(await statementsFor(60)).toEqual([expect.not.stringMatching(/"edition of rows"/)]);
  });

  it.each([
    ['one goes and another is added', [CHANGES.swap]],
    ['one goes and another is put before all others', [CHANGES.remove, CHANGES.put]],
    ['one is hidden and another shown', [CHANGES.hide, CHANGES.show]],
    ['one moves', [CHANGES.move]],
    ['one is put before all others', [CHANGES.put]],
    ['all go and as many are added', ['TRUNCATE products CASCADE', ALL]],
    ['the counts are tidied up', [CHANGES.swap, FORGOTTEN]],
  ])('is found anew after %s', async (_what, changes) => {
    await database.query(CHANGES.hide, [0.2]);
    for (const number of [60, 70]) await page(number, SIZE);
    for (const text of changes) await database.query(text, text.includes('$1') ? [0.9] : []);
    await findCountedTables(database);

    for (const number of [60, 61, 70, 71]) await expectPage(number, SIZE);
    for (const number of [60, 61, 70, 71]) await expectPage(number, SIZE, 'desc');
  });

  it('is found anew when a transaction ends that has added a row before others', async () => {
    await page(60, SIZE);
    await hold();
    await database.query(ADDED, [2 * SIZE]);
    const last = ROWS / SIZE + 1;
    await expectPage(last, SIZE);
    await expectPage(last - 1, SIZE);
    await letGo();

    for (const number of [60, last - 1, last, last + 1]) await expectPage(number, SIZE);
  });

  it('is found anew after a row moves while counts are tidied up, whatever their numbers add up to', async () => {
    const [mover, tidier] = [database.createQueryRunner(), database.createQueryRunner()];
    const numbers = `SELECT last_value::int AS last FROM ${NUMBERS}`;
    for (const runner of [mover, tidier]) await runner.query(ADDED, [1]);
    await database.query(FORGOTTEN);
    const [{ last }] = await database.query<{ last: number }[]>(numbers);
    await database.query('UPDATE row_counts SET moved = CASE WHEN slot = 1000000000 THEN 5 ELSE $1::integer END', [
      last,
    ]);

    // The numbers of both are between those that are seen before and after them: what they add, and what goes, is the same.
    for (const runner of [mover, tidier]) await runner.startTransaction();
    await mover.query(
      'UPDATE products SET id = (SELECT min(id) FROM products) - 1 WHERE id = (SELECT max(id) - 5 FROM products)',
    );
    await tidier.query("SELECT add_row_count('products', 'ACTIVE', 0)");
    await tidier.query("DELETE FROM row_counts WHERE table_name = 'products' AND slot = 1000000000");
    await database.query(CHANGES.remove, [0.9]);
    await page(60, SIZE);
    for (const runner of [mover, tidier]) await runner.commitTransaction();

    for (const number of [60, 61]) await expectPage(number, SIZE);
    for (const runner of [mover, tidier]) await runner.release();
  });

  it('is right in each of many requests at once, while rows come and go', async () => {
    const numbers = times(40, (index) => 55 + index);
    const writes = async () => {
      for (const at of [0.1, 0.2, 0.3]) {
        await database.query(CHANGES.remove, [at]);
        await database.query(ADDED, [1]);
      }
    };
    await Promise.all([writes(), ...numbers.map((number) => page(number, SIZE)), hold()]);
    await Promise.all([letGo(), ...numbers.map((number) => page(number, SIZE))]);

    for (const number of numbers) await expectPage(number, SIZE);
  });
});
