import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Counting {
  trigger: string;
  table: string;
  function: string;
  arguments: string;
}

/** Moves what countRows() counts from the text of its function into the arguments of its trigger. */
export class CountedTables1767530000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    const triggers = (await database.query(
      `SELECT quote_ident(tgname) AS trigger, tgrelid::regclass::text AS table, tgfoid::regproc::text AS function,
              concat_ws(', ', CASE WHEN position('SELECT status AS status' IN prosrc) > 0 THEN '''status''' END,
                              CASE WHEN position('deleted_at IS NULL' IN prosrc) > 0 THEN '''deleted_at''' END) AS arguments
         FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE tgname = relname || '_count_added' AND tgenabled <> 'D' AND tgnargs = 0`,
    )) as Counting[];
    for (const { trigger, table, function: count, arguments: counted } of triggers) {
      await database.query(
        `CREATE OR REPLACE TRIGGER ${trigger} AFTER INSERT ON ${table} REFERENCING NEW TABLE AS added
            FOR EACH STATEMENT EXECUTE FUNCTION ${count}(${counted})`,
      );
    }
  }

  /** The last release ignores the arguments. */
  async down(): Promise<void> {}
}
