import type { QueryRunner } from 'typeorm';

export interface Column {
  type: string;
  /** Whether a row needs a value that the database doesn't give. */
  demanded: boolean;
  nullable: boolean;
}

/** What a database has at one moment. */
export interface Catalog {
  /** Tables and views. */
  tables: Set<string>;
  /** By `table.column`. */
  columns: Map<string, Column>;
  /** Functions, procedures and types that statements of the service may name: not those of triggers. */
  routines: Set<string>;
  types: Set<string>;
  /** Columns without NULL, as `table.column`, by a constraint that PostgreSQL has checked. */
  checked: Set<string>;
  /** Functions that give another value for each row. */
  volatile: Set<string>;
}

const OWN = "nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg_%'";
const QUERIES = {
  tables: `SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
            WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND ${OWN}`,
  columns: `SELECT relname || '.' || attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable,
                   attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = '' AS demanded
              FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
             WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND attnum > 0 AND NOT attisdropped AND ${OWN}`,
  routines: `SELECT DISTINCT proname AS name FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace
              WHERE prorettype <> 'trigger'::regtype AND ${OWN}`,
  types: `SELECT typname AS name FROM pg_type JOIN pg_namespace n ON n.oid = typnamespace
           WHERE typtype IN ('e', 'd') AND ${OWN}`,
  checked: `SELECT relname || '.' || attname AS name
              FROM pg_constraint JOIN pg_class c ON c.oid = conrelid JOIN pg_attribute a ON attrelid = c.oid AND attnum = conkey[1]
             WHERE contype = 'c' AND convalidated AND cardinality(conkey) = 1
               AND pg_get_constraintdef(pg_constraint.oid) = format('CHECK ((%I IS NOT NULL))', attname)`,
  volatile: "SELECT DISTINCT proname AS name FROM pg_proc WHERE provolatile = 'v'",
};

type Row = { name: string } & Column;

export async function catalogOf(database: QueryRunner): Promise<Catalog> {
  const names = async (text: string) => new Set(((await database.query(text)) as Row[]).map(({ name }) => name));
  const columns = (await database.query(QUERIES.columns)) as Row[];
  return {
    tables: await names(QUERIES.tables),
    columns: new Map(columns.map(({ name, ...column }) => [name, column])),
    routines: await names(QUERIES.routines),
    types: await names(QUERIES.types),
    checked: await names(QUERIES.checked),
    volatile: await names(QUERIES.volatile),
  };
}
