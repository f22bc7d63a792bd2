import type { PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { StatementGroup } from '../../src/platform/transactions/statement-group';
import { sendAhead, sendTogether } from '../../src/platform/transactions/observed-commits';
import { useTestApi } from '../support/test-api';

const one = (text: string, values?: unknown[], name?: string) => ({ text, values, name });

describe.each([
  ['PostgreSQL', {}],
  ['a pooler', { DATABASE_POOLER: 'transaction' }],
])('Statements that are sent together to %s', (_name, settings) => {
  const api = useTestApi({ settings });
  let runner: QueryRunner;
  let client: PoolClient;

  beforeEach(async () => {
    const database = api.app.nest.get(DataSource);
    await database.query('DROP TABLE IF EXISTS group_marks');
    await database.query('CREATE TABLE group_marks (name text PRIMARY KEY)');
    runner = database.createQueryRunner();
    client = (await runner.connect()) as PoolClient;
  });

  afterEach(async () => {
    await client.query('ROLLBACK');
    await runner.release();
  });

  const insert = (name: unknown) => one('INSERT INTO group_marks VALUES ($1)', [name], 'group-insert');
  const marks = async () => {
    const { rows } = await client.query<{ name: string }>('SELECT name FROM group_marks ORDER BY name');
    return rows.map(({ name }) => name);
  };

  it('are one transaction with its BEGIN and COMMIT, and have a result each', async () => {
    const results = await sendTogether(client, [
      one('BEGIN'),
      insert('a'),
      one('SELECT $1::int AS number', [7]),
      one('SELECT now() AS moment'),
      one('COMMIT'),
    ]);

    expect(results.slice(1).map(({ command, rowCount }) => [command, rowCount])).toEqual([
      ['INSERT', 1],
      ['SELECT', 1],
      ['SELECT', 1],
      ['COMMIT', null],
    ]);
    expect(results[2].rows).toEqual([{ number: 7 }]);
    expect((results[3].rows as { moment: unknown }[])[0].moment).toBeInstanceOf(Date);
    expect([await marks(), client.getTransactionStatus()]).toEqual([['a'], 'I']);
  });

  it('have the name of the last one, for code that watches what is sent', () => {
    const group = new StatementGroup([one('SAVEPOINT mark', undefined, 'group-mark'), insert('a')]);
    expect([group.name, group.text]).toEqual(['group-insert', 'SAVEPOINT mark; INSERT INTO group_marks VALUES ($1)']);
  });

  it('are refused if PostgreSQL answers the COMMIT by undoing them', async () => {
    await client.query('BEGIN');
    await client.query('SELEKT').catch(() => undefined);
    const message = 'A transaction was to be committed in which a statement had failed';
    await expect(client.query('COMMIT')).rejects.toThrow(message);
  });

  it('have no callback where there is none', async () => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<{ rows: unknown[] }>;
    expect((await query('SELECT $1::int AS one', [1], undefined)).rows).toEqual([{ one: 1 }]);
    const told = await new Promise(
      (resolve) => void query({ text: 'SELECT 2 AS two', callback: (...answer: unknown[]) => resolve(answer) }),
    );
    expect(told).toMatchObject([null, { rows: [{ two: 2 }] }]);
  });

  it.each([
    ['by PostgreSQL', one('SELECT 1 / $1::int AS never', [0]), '22012'],
    ['for its syntax', one('SELEKT'), '42601'],
    ['for a value that exists already', insert('a'), '23505'],
  ])('are not committed after one was refused %s', async (_reason, refused, code) => {
    await client.query('BEGIN');

    const sent = sendTogether(client, [insert('a'), refused, insert('b'), one('COMMIT')]);

    await expect(sent).rejects.toMatchObject({ code });
    await client.query('ROLLBACK');
    expect(await marks()).toEqual([]);
  });

  it('are not committed after one has a value that cannot be sent', async () => {
    const endless: { self?: unknown } = {};
    endless.self = endless;
    await client.query('BEGIN');

    await expect(sendTogether(client, [insert('a'), insert(endless), one('COMMIT')])).rejects.toThrow(/circular/);

    await client.query('ROLLBACK');
    expect(await marks()).toEqual([]);
  });

  it('have names that are usable after a failure, alone and together, whichever statement has failed', async () => {
    const named = [one('SELECT 1', [], 'group-first'), insert('a'), one('SELECT 2', [], 'group-last')];
    for (const failing of [0, 1, 2, 3]) {
      const statements = named.toSpliced(failing, 0, one(`SELECT 1 / $1::int AS "${failing}"`, [0], `fail-${failing}`));
      await client.query('BEGIN');
      await expect(sendTogether(client, statements)).rejects.toMatchObject({ code: '22012' });
      await client.query('ROLLBACK');
    }
    for (const { text, values, name } of named) await client.query({ text, values, name });
    await sendTogether(client, [one('BEGIN'), ...named.filter(({ name }) => name !== 'group-insert'), one('COMMIT')]);

    expect(await marks()).toEqual(['a']);
  });

  it('may wait for the next statement, which fails with them', async () => {
    sendAhead(client, one('BEGIN'), insert('a'));
    expect(await marks()).toEqual(['a']);
    sendAhead(client, insert('a'));

    await expect(client.query('COMMIT')).rejects.toMatchObject({ code: '23505' });

    await client.query('ROLLBACK');
    expect(await marks()).toEqual([]);
  });

  it('may wait for several statements in one text, and are dropped by a ROLLBACK', async () => {
    sendAhead(client, one('BEGIN'), insert('a'));
    await client.query("INSERT INTO group_marks VALUES ('b'); INSERT INTO group_marks VALUES ('c')");
    expect(await marks()).toEqual(['a', 'b', 'c']);
    sendAhead(client, one('SELECT 1 / 0'));

    await client.query('ROLLBACK');

    expect([await marks(), client.getTransactionStatus()]).toEqual([[], 'I']);
  });

  it.each([
    ['one statement', insert('b').text, ['b']],
    ['several', "INSERT INTO group_marks VALUES ('b'); INSERT INTO group_marks VALUES ('c')", undefined],
  ])(
    'are not overtaken, with %s behind them that nobody awaits, by the end of the transaction',
    async (_, text, values) => {
      await client.query('BEGIN');
      sendAhead(client, insert('a'), one('SAVEPOINT mark'));
      const behind = client.query(text, values);
      await client.query('ROLLBACK');
      await behind;

      expect([await marks(), client.getTransactionStatus()]).toEqual([[], 'I']);
    },
  );

  it('tell the failure of the first one, whatever comes behind it', async () => {
    await client.query('BEGIN');
    sendAhead(client, one('SELECT 1 / 0'));
    const texts = ['INSERT INTO group_marks VALUES (1); SELECT 1', 'SELECT 2'];
    const outcomes = await Promise.allSettled(texts.map((text) => client.query(text)));
    expect(outcomes).toMatchObject([{ reason: { code: '22012' } }, { reason: { code: '25P02' } }]);
  });
});
