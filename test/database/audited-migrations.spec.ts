import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditRows } from '../../src/platform';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { migrate } from '../../src/platform/database/migrate';
import { AuditEvents1767620000000 } from '../../src/platform/database/migrations/1767620000000-audit-events';
import { createDatabase, dropDatabase, query, withDatabase } from '../../src/platform/testing';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;

class AuditBooks1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE books (id bigint PRIMARY KEY, title text, pages integer)');
    await auditRows(runner, 'books');
  }
  async down(): Promise<void> {}
}

class RenameTitle1900000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE books RENAME title TO name');
    await runner.query('ALTER TABLE books DROP pages, ADD isbn text');
  }
  async down(): Promise<void> {}
}

describe('A migration that changes the columns of an audited table', () => {
  const database = `${TEST_DATABASE_PREFIX}_audits_${process.pid}`;
  const url = withDatabase(TEST_SERVER_URL!, database);
  const sql = (text: string) => query(url, text);
  const run = (...migrations: (new () => MigrationInterface)[]) =>
    migrate({ ...dataSourceOptions(readSettings({}), url), migrations });
  const lastEvent = async () => (await sql('SELECT before, after FROM audit_events ORDER BY id DESC LIMIT 1'))[0];

  beforeAll(async () => {
    await createDatabase(TEST_SERVER_URL!, database);
    await run(AuditEvents1767620000000, AuditBooks1900000000001);
    await sql("INSERT INTO books VALUES (1, 'Emma', 400)");
  });
  afterAll(() => dropDatabase(TEST_SERVER_URL!, database));

  it('leaves an audit that knows the new ones and asks for none of the old', async () => {
    await run(AuditEvents1767620000000, AuditBooks1900000000001, RenameTitle1900000000002);
    await sql("UPDATE books SET name = 'Persuasion', isbn = '0'");

    expect(await lastEvent()).toEqual({
      before: { name: 'Emma', isbn: null },
      after: { name: 'Persuasion', isbn: '0' },
    });
  });

  it('is made good by the next start if it was made by hand', async () => {
    await sql('ALTER TABLE books ADD price numeric');
    await run(AuditEvents1767620000000, AuditBooks1900000000001, RenameTitle1900000000002);
    await sql('UPDATE books SET price = 5');

    expect(await lastEvent()).toEqual({ before: { price: null }, after: { price: 5 } });
  });
});
