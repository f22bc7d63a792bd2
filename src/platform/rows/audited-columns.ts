import type { QueryRunner } from 'typeorm';

/** A column of an audited table. */
export interface AuditedColumn {
  name: string;
  /** Whether two values of the type are equal just if their values in JSON are. */
  isExact: boolean;
}

/** Types whose values are equal just if their values in JSON are. */
const EXACT =
  'bool bytea date float4 float8 inet int2 int4 int8 jsonb numeric text time timestamp timestamptz uuid varchar';

const COLUMNS = `
  SELECT attname AS name,
         coalesce(collisdeterministic, true)
           AND (typtype = 'e' OR ltrim(typname, '_') = ANY (string_to_array('${EXACT}', ' '))) AS "isExact"
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_collation ON pg_collation.oid = attcollation
   WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C"`;

/** The columns of a table in the order of their names. */
export async function columnsOf(database: QueryRunner, table: string): Promise<AuditedColumn[]> {
  return (await database.query(COLUMNS, [table])) as AuditedColumn[];
}
