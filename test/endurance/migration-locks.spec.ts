import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Client as Connection } from 'pg';
import { StartupError } from '../../src/platform/config/startup-error';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { migrate } from '../../src/platform/database/migrate';
import { createDatabase, dropDatabase, query, withDatabase } from '../../src/platform/testing';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
/** How long a migration keeps others waiting, and a margin for a busy machine. */
const SHORT = 4_000;
const PATIENCE = 30_000;

class AddTitle1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE chapters (id bigint)');
    await runner.query('ALTER TABLE books ADD COLUMN title text');
  }
  async down(): Promise<void> {}
}

class ShowPatience1900000000002 implements MigrationInterface {
  transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("INSERT INTO settings SELECT current_setting('lock_timeout')");
  }
  async down(): Promise<void> {}
}

describe('A migration of a table that somebody else reads for long', () => {
  const database = `${TEST_DATABASE_PREFIX}_locks_${process.pid}`;
  const url = withDatabase(TEST_SERVER_URL!, database);
  const sql = (text: string) => query(url, text);
  const columns = async () =>
    (await sql("SELECT column_name FROM information_schema.columns WHERE table_name = 'books' ORDER BY 1")).map(
      ({ column_name }) => column_name as string,
    );
  const run = (longestHold: number) =>
    migrate(
      { ...dataSourceOptions(readSettings({}), url), migrations: [AddTitle1900000000001, ShowPatience1900000000002] },
      longestHold,
    );

  let reader: Connection;

  beforeAll(async () => {
    await createDatabase(TEST_SERVER_URL!, database);
    await sql('CREATE TABLE books (id bigint); CREATE TABLE settings (lock_timeout text)');
    reader = new Connection(url);
    await reader.connect();
  });
  afterAll(async () => {
    await reader.end();
    await dropDatabase(TEST_SERVER_URL!, database);
  });

  it(
    'gives up after its time, and leaves nothing behind',
    async () => {
      await reader.query('BEGIN; SELECT FROM books');
      const failed = run(0);

      await expect(failed).rejects.toThrow(StartupError);
      await expect(failed).rejects.toThrow('lock timeout');
      expect(await columns()).toEqual(['id']);
      expect(await sql("SELECT to_regclass('chapters') AS made")).toEqual([{ made: null }]);
      await reader.query('COMMIT');
    },
    PATIENCE,
  );

  it(
    'lets others read meanwhile, and is made once the table is free',
    async () => {
      await reader.query('BEGIN; SELECT FROM books');
      const migrated = run(PATIENCE);
      const waits: number[] = [];
      for (const end = Date.now() + 6_000; Date.now() < end;) {
        const start = Date.now();
        await sql('SELECT FROM books');
        waits.push(Date.now() - start);
      }
      expect(await columns()).toEqual(['id']);
      await reader.query('COMMIT');
      await migrated;

      expect(Math.max(...waits)).toBeLessThan(SHORT);
      // One read at least has waited behind an attempt.
      expect(Math.max(...waits)).toBeGreaterThan(500);
      expect(await columns()).toEqual(['id', 'title']);
    },
    PATIENCE,
  );

  it('waits as long as it has to without a transaction, which could not be undone', async () => {
    expect(await sql('SELECT * FROM settings')).toEqual([{ lock_timeout: '0' }]);
  });
});
