import type { QueryRunner } from 'typeorm';
import { type AuditedTable, auditFunction } from './audit-function';

/**
 * For a migration: each change of a row of this table leaves one audit event from now on, in the transaction of the
 * change and whatever code makes it. Columns that the table gets later are recorded with their values, unless another
 * call names them. A call replaces the earlier one.
 */
export async function auditRows(database: QueryRunner, table: string, options: AuditedTable = {}): Promise<void> {
  await database.query(auditFunction(table, options));
  const run = `EXECUTE FUNCTION ${table}_audit(${options.readers === undefined ? '' : `'in the feed'`})`;
  const transitions = [
    ['INSERT', 'REFERENCING NEW TABLE AS added'],
    ['DELETE', 'REFERENCING OLD TABLE AS removed'],
    ['TRUNCATE', ''],
  ];
  for (const [event, rows] of transitions) {
    await database.query(
      `CREATE OR REPLACE TRIGGER ${nameOf(table, event)} AFTER ${event} ON ${table} ${rows} FOR EACH STATEMENT ${run}`,
    );
  }
  // For each row, because a join of both transition tables would keep the plan of the first statement, however many rows
  // a later one changes.
  await database.query(
    `CREATE OR REPLACE TRIGGER ${nameOf(table, 'UPDATE')} AFTER UPDATE ON ${table}
        FOR EACH ROW WHEN (NEW *<> OLD) ${run}`,
  );
}

/** Reverts {@link auditRows} in `down()`, before a table is dropped. The events stay. */
export async function unauditRows(database: QueryRunner, table: string): Promise<void> {
  await database.query(`DROP FUNCTION IF EXISTS ${table}_audit CASCADE`);
}

const nameOf = (table: string, event: string): string => `${table}_audit_${event.toLowerCase()}`;
