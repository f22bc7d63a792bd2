import { escapeLiteral } from 'pg';
import type { QueryRunner } from 'typeorm';
import type { AuditedTable } from './audit-expressions';
import { auditFunctionBody, auditTogetherBody, isWrittenTogether } from './audit-function';
import { type AuditedColumn, columnsOf } from './audited-columns';

/**
 * For a migration: each change of a row of this table leaves one audit event from now on, in the transaction of the
 * change and whatever code makes it. Columns that the table gets later are recorded with their values, unless another
 * call names them. A call replaces the earlier one.
 */
export async function auditRows(database: QueryRunner, table: string, options: AuditedTable = {}): Promise<void> {
  const columns = await columnsOf(database, table);
  await makeFunctions(database, table, options, columns);
  await makeTriggers(database, table, options, isWrittenTogether(columns));
}

/** @param isTogether whether updates of several requests have a trigger of their own */
async function makeTriggers(
  database: QueryRunner,
  table: string,
  options: AuditedTable,
  isTogether: boolean,
): Promise<void> {
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
  // a later one changes. A statement of several requests has few.
  await database.query(
    `CREATE OR REPLACE TRIGGER ${nameOf(table, 'UPDATE')} AFTER UPDATE ON ${table}
        FOR EACH ROW WHEN (${isTogether ? `(${TOGETHER}) IS NOT TRUE AND ` : ''}NEW *<> OLD) ${run}`,
  );
  if (!isTogether) return;
  await database.query(
    `CREATE OR REPLACE TRIGGER ${nameOf(table, 'together')} AFTER UPDATE ON ${table}
        REFERENCING OLD TABLE AS removed NEW TABLE AS added
        FOR EACH STATEMENT WHEN (${TOGETHER}) EXECUTE FUNCTION ${table}_audit_together()`,
  );
}

/** Reverts {@link auditRows} in `down()`, before a table is dropped. The events stay. */
export async function unauditRows(database: QueryRunner, table: string): Promise<void> {
  await database.query(`DROP FUNCTION IF EXISTS ${table}_audit, ${table}_audit_together CASCADE`);
}

/** Makes the triggers of all audited tables anew, as this release has them. */
export async function renewAuditTriggers(database: QueryRunner): Promise<void> {
  for (const { table, options } of await auditFunctions(database)) await auditRows(database, table, options);
}

/** Reverts {@link renewAuditTriggers}. */
export async function removeAuditsTogether(database: QueryRunner): Promise<void> {
  for (const { table, options } of await auditFunctions(database)) {
    await makeTriggers(database, table, options, false);
    await database.query(`DROP FUNCTION IF EXISTS ${table}_audit_together CASCADE`);
  }
}

interface AuditFunction {
  table: string;
  /** What {@link auditRows} was given. */
  options: AuditedTable;
  body: string;
  /** The body for updates of several requests; null if there is none. */
  together: string | null;
}

/** The functions of audited tables. Their comments have the options. */
const FUNCTIONS = `
  SELECT DISTINCT relname AS table, obj_description(pg_proc.oid, 'pg_proc') AS options, prosrc AS body,
         (SELECT prosrc FROM pg_proc AS other WHERE other.oid = to_regproc(relname || '_audit_together')) AS together
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
   WHERE proname = relname || '_audit' AND obj_description(pg_proc.oid, 'pg_proc') LIKE '{%' AND pg_table_is_visible(tgrelid)`;

/**
 * Makes the functions of audited tables anew whose columns have changed, or which another release has made. Each migration
 * ends with it, in its transaction.
 */
export async function renewAudits(database: QueryRunner): Promise<void> {
  for (const { table, options, body, together } of await auditFunctions(database)) {
    const columns = await columnsOf(database, table);
    const isPresent =
      body === auditFunctionBody(table, columns, options) &&
      (!isWrittenTogether(columns) || together === auditTogetherBody(table, columns, options));
    if (!isPresent) await makeFunctions(database, table, options, columns);
  }
}

async function auditFunctions(database: QueryRunner): Promise<AuditFunction[]> {
  const found = (await database.query(FUNCTIONS)) as (Omit<AuditFunction, 'options'> & { options: string })[];
  return found.map((one) => ({ ...one, options: JSON.parse(one.options) as AuditedTable }));
}

async function makeFunctions(
  database: QueryRunner,
  table: string,
  options: AuditedTable,
  columns: readonly AuditedColumn[],
): Promise<void> {
  await makeFunction(database, `${table}_audit`, auditFunctionBody(table, columns, options));
  await database.query(`COMMENT ON FUNCTION ${table}_audit() IS ${escapeLiteral(JSON.stringify(options))}`);
  if (!isWrittenTogether(columns)) return;
  await makeFunction(database, `${table}_audit_together`, auditTogetherBody(table, columns, options));
}

async function makeFunction(database: QueryRunner, name: string, body: string): Promise<void> {
  await database.query(
    `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $audit$${body}$audit$`,
  );
}

/** Whether a statement updates rows of several requests, whose contexts it has told before the first row: see batched-statement.ts. */
const TOGETHER = "current_setting('audit.contexts', true) LIKE '{%'";

const nameOf = (table: string, event: string): string => `${table}_audit_${event.toLowerCase()}`;
