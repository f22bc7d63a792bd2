import type { QueryRunner } from 'typeorm';

export interface AuditedTable {
  /** The column by which events name a row. Default: `id` */
  id?: string;
  /** Columns whose values no event has: it only says that they changed. Default: none */
  secret?: readonly string[];
  /** Columns that no event mentions, such as keys that follow from other columns. Default: none */
  omit?: readonly string[];
}

/** Columns of every resource, which an event has in other ways. */
const KNOWN = ['id', 'created_at', 'updated_at', 'version'];

/**
 * For a migration: each change of a row of this table leaves one audit event from now on, in the transaction of the
 * change and whatever code makes it. Columns that the table gets later are recorded with their values, unless another
 * call names them. A call replaces the earlier one.
 */
export async function auditRows(
  database: QueryRunner,
  table: string,
  { id = 'id', secret = [], omit = [] }: AuditedTable = {},
): Promise<void> {
  const noun = table.replaceAll('_', '-');
  const columns = [[...KNOWN, id, ...omit], secret].map((names) => `'{${names.join()}}'`);
  const run = `EXECUTE FUNCTION audit_rows('${noun}', '${id}', ${columns.join(', ')})`;
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

/** Reverts {@link auditRows} in `down()`. The events stay. A table that is dropped takes its triggers along. */
export async function unauditRows(database: QueryRunner, table: string): Promise<void> {
  for (const event of ['INSERT', 'DELETE', 'TRUNCATE', 'UPDATE']) {
    await database.query(`DROP TRIGGER IF EXISTS ${nameOf(table, event)} ON ${table}`);
  }
}

const nameOf = (table: string, event: string): string => `${table}_audit_${event.toLowerCase()}`;
