import { DataSource, type EntityManager } from 'typeorm';
import { lockAndQuery, lockName } from '../../src/platform';
import { statementsOf, testRun, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { withKey } from '../support/with-key';

const COUNT = 'SELECT count(*)::int AS count FROM name_marks';
const FREE = "SELECT pg_try_advisory_xact_lock(hashtextextended('resource-api: marks', 0)) AS free";
const WORKERS = 8;

type Counting = (manager: EntityManager) => Promise<{ count: number }[]>;

/** The two ways to count under the lock. */
const WAYS: [way: string, count: Counting][] = [
  ['lockName()', (manager) => lockName(manager, 'marks').then(() => manager.query(COUNT))],
  ['lockAndQuery()', (manager) => lockAndQuery(manager, 'marks', COUNT)],
];

describe.each([
  ['PostgreSQL', {}],
  ['a pooler', { DATABASE_POOLER: 'transaction' }],
])('A name that is locked in a transaction, with %s', (server, settings) => {
  const api = useTestApi({ settings });
  let database: DataSource;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    await database.query('DROP TABLE IF EXISTS name_marks');
    await database.query('CREATE TABLE name_marks (name text PRIMARY KEY)');
  });
  beforeEach(() => database.query('TRUNCATE name_marks'));

  const insert = (manager: EntityManager, name: unknown) =>
    manager.query('INSERT INTO name_marks VALUES ($1)', [String(name)]);
  /** Whether another transaction could lock the name now. */
  const isFree = async () => (await database.query<{ free: boolean }[]>(FREE))[0].free;

  describe.each(WAYS)('by %s', (_way, count) => {
    /** Inserts the number of rows as a row: two that count at once would insert the same. */
    const countAndInsert = async (manager: EntityManager) => {
      const [{ count: number }] = await count(manager);
      await insert(manager, number);
      return number;
    };
    const all = times(WORKERS, (index) => index);

    it('lets one transaction at a time go on, which sees what the one before it has committed', async () => {
      const numbers = await Promise.all(times(WORKERS, () => database.transaction(countAndInsert)));
      expect(numbers.sort()).toEqual(all);
    });

    it('lets one request with a key at a time go on', async () => {
      const numbers = await Promise.all(times(WORKERS, () => withKey(database, countAndInsert)));
      expect(numbers.sort()).toEqual(all);
    });

    it('is held until the transaction ends, committed or not', async () => {
      await database.transaction(async (manager) => {
        await count(manager);
        expect(await isFree()).toBe(false);
      });
      expect(await isFree()).toBe(true);
      const failing = database.transaction((manager) => count(manager).then(() => Promise.reject(new Error('no'))));
      await expect(failing).rejects.toThrow('no');
      expect(await isFree()).toBe(true);
    });

    it('is free again when the nested transaction that has locked it is rolled back', async () => {
      await database.transaction(async (manager) => {
        const nested = manager.transaction((inner) => count(inner).then(() => Promise.reject(new Error('no'))));
        await expect(nested).rejects.toThrow('no');
        expect(await isFree()).toBe(true);
        await insert(manager, 'outer');
      });
      expect(await database.query('TABLE name_marks')).toEqual([{ name: 'outer' }]);
    });

    it('comes before the statement, whatever else its transaction sends meanwhile', async () => {
      await database.transaction(async (manager) => {
        const [, [{ count: number }]] = await Promise.all([insert(manager, 'a'), count(manager), insert(manager, 'b')]);
        expect(number).toBeGreaterThanOrEqual(1);
        expect(await isFree()).toBe(false);
      });
      expect(await database.query('TABLE name_marks')).toHaveLength(2);
    });

    it('fails the transaction that waits for it too long, of which nothing is left', async () => {
      await database.transaction(async (holder) => {
        await count(holder);
        const late = database.transaction(async (manager) => {
          await manager.query("SET LOCAL lock_timeout = '50ms'");
          await insert(manager, 'late');
          return count(manager);
        });
        await expect(late).rejects.toMatchObject({ driverError: { code: '55P03' } });
      });
      expect(await database.query('TABLE name_marks')).toEqual([]);
      await expect(database.transaction(countAndInsert)).resolves.toBe(0);
    });

    it('can be locked after a failure that a nested transaction has undone', async () => {
      const number = await database.transaction(async (manager) => {
        await manager.transaction((inner) => inner.query('SELEKT')).catch(() => undefined);
        return countAndInsert(manager);
      });
      expect(number).toBe(0);
    });

    it('is refused outside of a transaction', async () => {
      await expect(count(database.manager)).rejects.toThrow('was to be locked outside of a transaction');
      const runner = database.createQueryRunner();
      await expect(count(runner.manager)).rejects.toThrow('Pass the manager of manager.transaction()');
      await runner.release();
    });
  });

  it('is locked when lockName() resolves', async () => {
    await database.transaction(async (manager) => {
      await lockName(manager, 'marks');
      expect(await isFree()).toBe(false);
    });
  });

  it('costs no message beside the statement of lockAndQuery()', async () => {
    const work = (manager: EntityManager) => lockAndQuery(manager, 'marks', COUNT);
    const sent = await statementsOf(() => database.transaction(work));

    // A pooler gets each statement alone.
    const isPooled = server === 'a pooler' || testRun().pooler;
    const together = isPooled ? [/pg_advisory/, /^SELECT count/] : [/^SELECT pg_advisory.*; SELECT count/s];
    const expected = [/^START TRANSACTION/, ...together, /^COMMIT$/];
    expect(sent).toEqual(expected.map((text) => expect.stringMatching(text) as unknown));
  });
});
