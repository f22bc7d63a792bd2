import { escapeLiteral } from 'pg';
import type { QueryRunner } from 'typeorm';
import { type AuditedTable, auditFunctionBody } from './audit-function';
import { columnsOf } from './audited-columns';

/**
 * For a migration: each change of a row of this table leaves one audit event from now on, in the transaction of the
 * change and whatever code makes it. Columns that the table gets later are recorded with their values, unless another
 * call names them. A call replaces the earlier one.
 */
export async function auditRows(database: QueryRunner, table: string, options: AuditedTable = {}): Promise<void> {
  await makeFunction(database, table, options, await bodyFor(database, table, options));
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

interface AuditFunction {
  table: string;
  /** What {@link auditRows} was given, as JSON. */
  options: string;
  body: string;
}

/** The functions of audited tables. Their comments have the options. */
const FUNCTIONS = `
  SELECT DISTINCT relname AS table, obj_description(pg_proc.oid, 'pg_proc') AS options, prosrc AS body
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
   WHERE proname = relname || '_audit' AND obj_description(pg_proc.oid, 'pg_proc') LIKE '{%' AND pg_table_is_visible(tgrelid)`;

/**
 * Makes the functions of audited tables anew whose columns have changed, or which another release has made. Each migration
 * ends with it, in its transaction.
 */
export async function renewAudits(database: QueryRunner): Promise<void> {
  const functions = (await database.query(FUNCTIONS)) as AuditFunction[];
  for (const { table, options, body } of functions) {
    const given = JSON.parse(options) as AuditedTable;
    const present = await bodyFor(database, table, given);
    if (body !== present) await makeFunction(database, table, given, present);
  }
}

async function bodyFor(database: QueryRunner, table: string, options: AuditedTable): Promise<string> {
  return auditFunctionBody(table, await columnsOf(database, table), options);
}

async function makeFunction(database: QueryRunner, table: string, options: AuditedTable, body: string): Promise<void> {
  await database.query(
    `CREATE OR REPLACE FUNCTION ${table}_audit() RETURNS trigger LANGUAGE plpgsql AS $audit$${body}$audit$`,
  );
  await database.query(`COMMENT ON FUNCTION ${table}_audit() IS ${escapeLiteral(JSON.stringify(options))}`);
}

const nameOf = (table: string, event: string): string => `${table}_audit_${event.toLowerCase()}`;
