import type { PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { lockName, UnitOfWork } from '../../src/platform';
import { statementsOf, testRun, times } from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';

const INSERT = "INSERT INTO late_marks VALUES ('a')";
const isPooled = testRun().pooler;

describe('A transaction of TypeORM', () => {
  const api = useTestApi();
  let database: DataSource;
  let caller: TestUser;

  beforeAll(async () => {
    caller = await api.user();
    database = api.app.nest.get(DataSource);
    await database.query('CREATE TABLE late_marks (name text PRIMARY KEY)');
  });
  beforeEach(() => database.query('TRUNCATE late_marks'));

  const marks = async () => (await database.query<{ name: string }[]>('TABLE late_marks')).map(({ name }) => name);
  const asRequest = <T>(work: () => Promise<T>) =>
    new UnitOfWork(undefined, {
      id: "request; 'of' a test",
      ip: '192.0.2.7',
      user: { id: caller.id, roles: ['USER'] },
    }).run(work);

  (isPooled ? it.skip : it)('begins in the message of its first statement, and says who writes there', async () => {
    const sent = await statementsOf(() => asRequest(() => database.transaction((manager) => manager.query(INSERT))));

    expect(sent).toEqual([
      expect.stringMatching(/^START TRANSACTION; SET LOCAL audit\.context = '.*; ''of''.*'; INSERT INTO late_marks/),
      expect.stringMatching(/COMMIT$/),
    ]);
    expect(await marks()).toEqual(['a']);
  });

  (isPooled ? it.skip : it)('sends nothing if it is rolled back before its first statement', async () => {
    const mistake = new Error('before anything was asked');
    const failing = () => database.transaction(() => Promise.reject(mistake));

    const sent = await statementsOf(() => expect(failing()).rejects.toBe(mistake));

    expect(sent).toEqual([]);
    expect(await marks()).toEqual([]);
  });

  it('is committed if it has no statement', async () => {
    await expect(database.transaction(() => Promise.resolve('nothing'))).resolves.toBe('nothing');
  });

  it.each<IsolationLevel>(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
    'has the isolation level %s from its first statement',
    async (isolation) => {
      const shown = asRequest(() =>
        database.transaction(isolation, (manager) => manager.query<unknown[]>('SHOW transaction_isolation')),
      );
      expect(await shown).toEqual([{ transaction_isolation: isolation.toLowerCase() }]);
    },
  );

  it('may set its isolation level by SQL, as its first statement', async () => {
    const shown = database.transaction(async (manager) => {
      await manager.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      return manager.query<unknown[]>('SHOW transaction_isolation');
    });
    expect(await shown).toEqual([{ transaction_isolation: 'serializable' }]);
  });

  it.each<[name: string, work: (runner: QueryRunner) => Promise<unknown>]>([
    ['a statement', (runner) => runner.query(INSERT)],
    ['a savepoint', (runner) => runner.startTransaction().then(() => runner.query(INSERT))],
    ['several statements in one text', (runner) => runner.query(`${INSERT}; SELECT 1`)],
    ['a statement of the driver', async (runner) => ((await runner.connect()) as PoolClient).query(INSERT)],
    [
      'a statement of the driver with a callback',
      async (runner) => {
        const client = (await runner.connect()) as PoolClient;
        await new Promise((resolve) => client.query(INSERT, resolve));
      },
    ],
  ])('begins with %s, which a rollback undoes', async (_name, work) => {
    const runner = database.createQueryRunner();
    try {
      await runner.startTransaction();
      await work(runner);
      while (runner.isTransactionActive) await runner.rollbackTransaction();
    } finally {
      await runner.release();
    }
    expect(await marks()).toEqual([]);
  });

  it('that SQL has begun keeps a write of audited rows until it ends', async () => {
    const name = 'Never sold at any time';
    await asRequest(async () => {
      const runner = database.createQueryRunner();
      await runner.query('START TRANSACTION');
      await runner.query('INSERT INTO products (name, price) VALUES ($1, 1)', [name]);
      await runner.query('ROLLBACK');
      await runner.release();
    });
    expect(await database.query('SELECT FROM products WHERE name = $1', [name])).toEqual([]);
  });

  it.each([
    ['before its first statement', 0],
    ['after a statement', 1],
  ])('that is given back %s is reported, and the connection is not lent again', async (_name, statements) => {
    const runner = database.createQueryRunner();
    await runner.startTransaction();
    for (let sent = 0; sent < statements; sent++) await runner.query(INSERT);

    await expect(runner.release()).rejects.toThrow(/transaction/);

    expect(await marks()).toEqual([]);
    await Promise.all(times(20, () => database.query(`${INSERT} ON CONFLICT DO NOTHING`)));
    expect(await marks()).toEqual(['a']);
  });

  describe('that locks a name', () => {
    it('runs after the one that has locked it before, and sees what it has written', async () => {
      const numbers = await Promise.all(
        times(8, () =>
          database.transaction(async (manager) => {
            await lockName(manager, 'marks');
            const [{ count }] = await manager.query<{ count: number }[]>('SELECT count(*)::int FROM late_marks');
            await manager.query('INSERT INTO late_marks VALUES ($1)', [String(count)]);
            return count;
          }),
        ),
      );
      expect(numbers.sort()).toEqual(times(8, (index) => index));
    });

    it('does not wait for one that has locked another', async () => {
      await database.transaction(async (manager) => {
        await lockName(manager, 'one');
        await manager.query('SELECT 1');
        await database.transaction(async (other) => {
          await lockName(other, 'another');
          await other.query('SELECT 1');
        });
      });
    });

    it('must exist', async () => {
      await expect(lockName(database.manager, 'marks')).rejects.toThrow('needs the manager of a transaction');
    });
  });
});
