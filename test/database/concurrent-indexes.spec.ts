import { Client } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { addIndex, dropIndex } from '../../src/platform';
import { migrate } from '../../src/platform/database/migrate';
import { dataSourceOptions } from '../../src/platform/programs';
import { cloneTemplate, query, readSettings, times, waitFor } from '../../src/platform/testing';

class AddIndexes1990000000000 implements MigrationInterface {
  transaction = false;

  async up(database: QueryRunner): Promise<void> {
    await addIndex(database, 'shelves_name_sort', 'ON shelves (name, id)');
    await addIndex(database, 'shelves_name_unique', 'ON shelves (name) WHERE id > 0', { unique: true });
  }

  async down(database: QueryRunner): Promise<void> {
    await dropIndex(database, 'shelves_name_unique');
  }
}

describe('An index on a table that others write', () => {
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  const options = () => ({
    ...dataSourceOptions(readSettings({}), database.url),
    migrations: [AddIndexes1990000000000],
  });

  beforeEach(async () => {
    database = await cloneTemplate();
    await query(database.url, 'CREATE TABLE shelves (id bigint PRIMARY KEY, name text NOT NULL)');
    await query(database.url, "INSERT INTO shelves VALUES (1, 'a'), (2, 'b')");
  });
  afterEach(() => database.drop());

  /** Whether PostgreSQL uses them, by name. */
  async function indexes(): Promise<Record<string, boolean>> {
    const rows = (await query(
      database.url,
      `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = 'shelves'::regclass AND NOT indisprimary`,
    )) as { name: string; valid: boolean }[];
    return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
  }

  /** How many wait for a lock in such a statement, which began at least so many seconds ago. */
  async function connectionsAt(statement: string, age = 0): Promise<number> {
    const text = `SELECT count(*)::int AS count FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1
                     AND query_start <= clock_timestamp() - $2 * interval '1 second'`;
    const [{ count }] = await query(database.url, text, [`${statement}%`, age]);
    return count as number;
  }

  it('is made by one of several instances that start at once, and neither they nor writers wait for each other', async () => {
    const writer = new Client({ connectionString: database.url });
    await writer.connect();
    await writer.query('BEGIN');
    await writer.query("INSERT INTO shelves VALUES (3, 'c')");
    const starts = Promise.all(times(4, () => migrate(options())));
    await waitFor(async () => (await connectionsAt('CREATE INDEX CONCURRENTLY')) === 1);
    await query(database.url, "INSERT INTO shelves VALUES (4, 'd')");

    expect(await connectionsAt('INSERT')).toBe(0);
    await writer.query('COMMIT');
    await writer.end();
    await starts;
    expect(await indexes()).toEqual({ shelves_name_sort: true, shelves_name_unique: true });
  });

  it('is made anew after an attempt that failed', async () => {
    await query(database.url, "INSERT INTO shelves VALUES (3, 'a')");

    await expect(migrate(options())).rejects.toThrow('could not create unique index "shelves_name_unique"');
    expect(await indexes()).toEqual({ shelves_name_sort: true, shelves_name_unique: false });

    await query(database.url, 'DELETE FROM shelves WHERE id = 3');
    await migrate(options());
    expect(await indexes()).toEqual({ shelves_name_sort: true, shelves_name_unique: true });
  });

  it('waits for others for as long as they take, whatever lock_timeout is', async () => {
    const writer = new Client({ connectionString: database.url });
    await writer.connect();
    await writer.query('BEGIN');
    await writer.query("INSERT INTO shelves VALUES (3, 'c')");
    await query(database.url, `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET lock_timeout = '50ms'`);
    const start = migrate(options());
    // Four times as long as that limit.
    await waitFor(async () => (await connectionsAt('CREATE INDEX CONCURRENTLY', 0.2)) === 1);

    expect(await connectionsAt('CREATE INDEX CONCURRENTLY')).toBe(1);
    await writer.query('COMMIT');
    await writer.end();
    await start;
    expect(await indexes()).toMatchObject({ shelves_name_sort: true });
  });

  describe('by a migration of another data source', () => {
    let source: DataSource;

    beforeEach(async () => {
      source = await new DataSource({ ...options(), extra: undefined }).initialize();
    });
    afterEach(() => source.destroy());

    it('is refused in a transaction, which says what to write', async () => {
      const work = source.transaction(({ queryRunner }) => new AddIndexes1990000000000().up(queryRunner!));

      await expect(work).rejects.toThrow('write `transaction = false` into the migration');
    });

    it('is dropped, in a transaction too', async () => {
      await migrate(options());
      await source.undoLastMigration();

      expect(await indexes()).toEqual({ shelves_name_sort: true });
      const runner = source.createQueryRunner();
      await dropIndex(runner, 'shelves_name_sort');
      await runner.release();
      expect(await indexes()).toEqual({});
    });
  });
});
