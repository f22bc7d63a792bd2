import { DataSource, type QueryRunner } from 'typeorm';
import { auditRows, unauditRows } from '../../src/platform';
import { renewAudits } from '../../src/platform/rows/audit-rows';
import { useTestApi } from '../support/test-api';

interface Event {
  action: string;
  resource_id: string;
  version_before: number | null;
  version_after: number | null;
  before: object | null;
  after: object | null;
  concealed: string[];
  readers_before: number | null;
  readers_after: number | null;
}

const TABLE = 'audited_things';

const COLUMNS = `id bigint PRIMARY KEY, version integer NOT NULL DEFAULT 1, deleted_at timestamptz, user_id bigint`;

describe('The columns of an audited table', () => {
  const api = useTestApi();
  let runner: QueryRunner;

  beforeEach(async () => {
    runner = api.app.nest.get(DataSource).createQueryRunner();
    await runner.startTransaction();
  });

  afterEach(async () => {
    await runner.rollbackTransaction();
    await runner.release();
  });

  const run = (text: string): Promise<unknown> => runner.query(text);
  const events = async (): Promise<Event[]> =>
    (await runner.query('SELECT * FROM audit_events WHERE resource = $1 ORDER BY id', ['audited-things'])) as Event[];
  const lastEvent = async () => (await events()).at(-1)!;
  const table = async (columns: string, options: Parameters<typeof auditRows>[2] = {}) => {
    await run(`CREATE TABLE ${TABLE} (${COLUMNS}, ${columns})`);
    await auditRows(runner, TABLE, options);
  };

  it.each([
    ['json', `'{"a":1}'`, `'{"a": 1}'`],
    ['xml', `'<a/>'`, `'<b/>'`],
    ['point', `'(1,2)'`, `'(1,3)'`],
    ['char(3)', `'a'`, `'b'`],
    ['interval', `'1 day'`, `'24 hours'`],
    ['text[]', `'{a}'`, `'{a,b}'`],
    ['jsonb', `'{"a":1}'`, `'{"a":2}'`],
    ['int4range', `'[1,2)'`, `'[1,3)'`],
    ['text COLLATE "C"', `'a'`, `'A'`],
    ['integer', 'NULL', '0'],
    ['integer', '0', 'NULL'],
  ])('tell a change of a %s from %s to %s', async (type, from, to) => {
    await table(`value ${type}`);
    await run(`INSERT INTO ${TABLE} (id, value) VALUES (1, ${from})`);
    await run(`UPDATE ${TABLE} SET value = ${to}`);

    const values = (await runner.query(
      `SELECT jsonb_build_object('value', ${from}::${type}) AS before, jsonb_build_object('value', ${to}::${type}) AS after`,
    )) as object[];
    expect(await lastEvent()).toMatchObject({ action: 'UPDATED', ...values[0] });
  });

  it('may have names that the function has as well, and names that need quotes', async () => {
    await table(`before text, after text, concealed text, context text, "Says ""it's""" text, "user" text`, {
      readers: 'user_id',
    });
    await run(`INSERT INTO ${TABLE} (id, user_id, before, after, "Says ""it's""") VALUES (1, 7, 'a', 'b', 'c')`);
    await run(`UPDATE ${TABLE} SET before = 'd', concealed = 'e', "Says ""it's""" = 'f'`);
    await run(`DELETE FROM ${TABLE}`);

    const [created, updated, deleted] = await events();
    expect(created.after).toMatchObject({ before: 'a', after: 'b', 'Says "it\'s"': 'c', context: null });
    expect(updated).toMatchObject({
      before: { before: 'a', concealed: null, 'Says "it\'s"': 'c' },
      after: { before: 'd', concealed: 'e', 'Says "it\'s"': 'f' },
      readers_before: 7,
      readers_after: 7,
    });
    expect(deleted).toMatchObject({ action: 'DELETED', before: { before: 'd' }, readers_before: 7 });
  });

  it('may be many', async () => {
    const names = Array.from({ length: 130 }, (_, index) => `column_${index}`);
    await table(names.map((name) => `${name} integer`).join());
    await run(`INSERT INTO ${TABLE} (id, column_129) VALUES (1, 5)`);

    expect(Object.keys((await lastEvent()).after!)).toHaveLength(names.length + 2);
    expect((await lastEvent()).after).toMatchObject({ column_0: null, column_129: 5 });
  });

  it('may lack what resources have', async () => {
    await run(`CREATE TABLE ${TABLE} (key text PRIMARY KEY, value text, secret text)`);
    await auditRows(runner, TABLE, { id: 'key', secret: ['secret'] });
    await run(`INSERT INTO ${TABLE} VALUES ('a', 'b', 'c'), ('d', 'e', NULL)`);
    await run(`UPDATE ${TABLE} SET secret = 'f' WHERE key = 'a'`);

    const [first, second, updated] = await events();
    expect(first).toMatchObject({
      resource_id: 'a',
      after: { value: 'b' },
      concealed: ['secret'],
      version_after: null,
    });
    expect(second).toMatchObject({ resource_id: 'd', after: { value: 'e' }, concealed: [] });
    expect(updated).toMatchObject({ action: 'UPDATED', before: null, after: null, concealed: ['secret'] });
  });

  it('are recorded when they come later, and nothing fails when they go', async () => {
    await table('first text, second text', { secret: ['second'] });
    await run(`INSERT INTO ${TABLE} (id) VALUES (1)`);
    await run(`ALTER TABLE ${TABLE} ADD third text, DROP first`);
    await renewAudits(runner);
    await run(`UPDATE ${TABLE} SET second = 'a', third = 'b'`);

    expect(await lastEvent()).toMatchObject({ before: { third: null }, after: { third: 'b' }, concealed: ['second'] });
  });

  it('count a hidden row as deleted, and a row that is shown again as created', async () => {
    await table('value text', { readers: 'user_id' });
    await run(`INSERT INTO ${TABLE} (id, user_id) VALUES (1, 7)`);
    await run(`UPDATE ${TABLE} SET deleted_at = now(), version = 2`);
    await run(`UPDATE ${TABLE} SET deleted_at = NULL, version = 3`);

    const [, hidden, shown] = await events();
    expect(hidden).toMatchObject({ action: 'DELETED', readers_before: 7, readers_after: null, version_after: 2 });
    expect(shown).toMatchObject({ action: 'CREATED', readers_before: null, readers_after: 7, version_before: 2 });
  });

  it('leave nothing behind where a table is no longer audited', async () => {
    await table('value text');
    await unauditRows(runner, TABLE);
    await renewAudits(runner);
    await run(`INSERT INTO ${TABLE} (id) VALUES (1)`);

    expect(await events()).toEqual([]);
  });
});
