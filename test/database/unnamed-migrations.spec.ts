import type { MigrationInterface, QueryRunner } from 'typeorm';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { migrate } from '../../src/platform/database/migrate';
import { createDatabase, dropDatabase, query, withDatabase } from '../../src/platform/testing';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;

class FillShelves1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE shelves (id integer PRIMARY KEY)');
    for (let id = 1; id <= 10; id++) await runner.query('INSERT INTO shelves (id) VALUES ($1)', [id]);
    await runner.query(`CREATE TABLE names AS
      SELECT name FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO shelves%'`);
  }
  async down(): Promise<void> {}
}

describe('A statement of a migration', () => {
  const database = `${TEST_DATABASE_PREFIX}_unnamed_${process.pid}`;
  const url = withDatabase(TEST_SERVER_URL!, database);

  beforeAll(() => createDatabase(TEST_SERVER_URL!, database));
  afterAll(() => dropDatabase(TEST_SERVER_URL!, database));

  it('has no name, however often it comes: behind a pooler the session of another client may have it', async () => {
    await migrate({ ...dataSourceOptions(readSettings({}), url), migrations: [FillShelves1900000000001] });

    expect(await query(url, 'SELECT count(*)::integer AS count FROM shelves')).toEqual([{ count: 10 }]);
    expect(await query(url, 'SELECT name FROM names')).toEqual([]);
  });
});
