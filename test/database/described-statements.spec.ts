import type { PoolClient, QueryConfig } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { sendTogether } from '../../src/platform/transactions/observed-commits';
import { useTestApi } from '../support/test-api';

type Row = Record<string, unknown>;

interface Wire {
  connection: { describe: (portal: unknown) => void };
}

const TABLE = `
  CREATE TABLE described (id integer PRIMARY KEY, name text, price numeric(12,2), at timestamptz, tags text[], extra jsonb)`;
const ROW = "INSERT INTO described VALUES (1, 'a', 1.50, '2026-01-02T03:04:05Z', '{x,y}', '{\"a\":1}')";
const ALL = { name: 'described-all', text: 'SELECT * FROM described WHERE id >= $1 ORDER BY id' };
const COUNT = { name: 'described-count', text: 'SELECT count(*)::int AS number FROM described WHERE id >= $1' };
const RAISE = { name: 'described-raise', text: 'UPDATE described SET price = price / $1 RETURNING id, price' };
const TOUCH = { name: 'described-touch', text: 'UPDATE described SET name = name WHERE id >= $1' };

describe('The columns of a statement with a name', () => {
  const api = useTestApi();
  let runner: QueryRunner;
  let client: PoolClient;
  let described: jest.SpyInstance;

  beforeEach(async () => {
    const database = api.app.nest.get(DataSource);
    runner = database.createQueryRunner();
    client = (await runner.connect()) as PoolClient;
    for (const text of ['DEALLOCATE ALL', 'DROP TABLE IF EXISTS described', TABLE, ROW]) await client.query(text);
    described = jest.spyOn((client as unknown as Wire).connection, 'describe');
  });

  afterEach(async () => {
    described.mockRestore();
    await client.query('ROLLBACK');
    await (client as unknown as { end: () => Promise<void> }).end();
    await runner.release();
  });

  const together = async (...statements: { name?: string; text: string; values?: unknown[] }[]) =>
    (await sendTogether(client, [{ text: 'BEGIN' }, ...statements, { text: 'COMMIT' }])).slice(1, -1);
  const ask = (statement: QueryConfig, values: unknown[] = [1]) => client.query<Row>({ ...statement, values });

  it.each([
    ['alone', (values: unknown[]) => ask(ALL, values)],
    ['with options apart from values', (values: unknown[]) => client.query<Row>(ALL, values)],
    ['in a group', async (values: unknown[]) => (await together({ ...ALL, values }))[0]],
  ])('are asked for once, and rows stay the same: %s', async (_way, run) => {
    const first = await run([1]);
    const asked = described.mock.calls.length;
    const others = [await run([1]), await run([1])];

    expect(first.rows).toEqual([
      { id: 1, name: 'a', price: expect.anything(), at: expect.any(Date), tags: ['x', 'y'], extra: { a: 1 } },
    ]);
    for (const other of others) {
      expect(other.rows).toEqual(first.rows);
      expect(other.fields).toEqual(first.fields);
      expect([other.command, other.rowCount]).toEqual(['SELECT', 1]);
    }
    // BEGIN and COMMIT have no names.
    const unnamed = described.mock.calls.length - asked;
    expect(unnamed).toBe(asked > 1 ? 4 : 0);
    expect((await run([2])).rows).toEqual([]);
  });

  it('are asked for once where there are none', async () => {
    for (const rowCount of [1, 1, 1]) expect(await ask(TOUCH)).toMatchObject({ rowCount, rows: [], fields: [] });
    expect(described).toHaveBeenCalledTimes(1);
  });

  it('are known to a group when the statement came alone, and the other way round', async () => {
    await ask(ALL);
    await ask(COUNT);
    described.mockClear();
    const [all, count, again] = await together(
      { ...ALL, values: [1] },
      { ...COUNT, values: [1] },
      { ...ALL, values: [1] },
    );

    expect([all.rows.length, count.rows, again.rows]).toEqual([1, [{ number: 1 }], all.rows]);
    expect(described).toHaveBeenCalledTimes(2);
    expect((await ask(COUNT)).rows).toEqual([{ number: 1 }]);
  });

  it('are right after a first try that failed before, while or after it ran', async () => {
    await expect(ask(RAISE, [0])).rejects.toThrow('division by zero');
    await expect(ask(RAISE, ['x'])).rejects.toThrow('invalid input syntax');
    await expect(together({ text: 'SELECT 1 / 0' }, { ...RAISE, values: [1] })).rejects.toThrow('division by zero');
    await client.query('ROLLBACK');

    for (const divisor of [1, 1, 2])
      expect((await ask(RAISE, [divisor])).rows).toEqual([{ id: 1, price: expect.anything() }]);
    await expect(ask(RAISE, [0])).rejects.toThrow('division by zero');
    expect((await ask(RAISE, [1])).rows).toEqual([{ id: 1, price: expect.anything() }]);
  });

  it('are never those of before a migration: PostgreSQL refuses the statement', async () => {
    for (const times of [1, 2]) expect([times, (await ask(ALL)).rows.length]).toEqual([times, 1]);
    await client.query('ALTER TABLE described DROP COLUMN name');

    await expect(ask(ALL)).rejects.toThrow('cached plan must not change result type');
    await expect(together({ ...ALL, values: [1] })).rejects.toThrow('cached plan must not change result type');
    await client.query('ROLLBACK');
    expect((await ask(COUNT)).rows).toEqual([{ number: 1 }]);
  });

  it('come with each answer where the driver has options of its own', async () => {
    const rows = async () => (await client.query({ ...ALL, values: [1], rowMode: 'array' })).rows;
    await ask(ALL);

    expect([(await rows())[0], (await rows())[0]]).toEqual([expect.any(Array), expect.any(Array)]);
    expect((await ask(ALL)).rows[0]).toMatchObject({ id: 1, tags: ['x', 'y'] });
  });
});
