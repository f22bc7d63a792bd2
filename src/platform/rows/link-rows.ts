import type { QueryRunner } from 'typeorm';

export interface Link {
  /** The table of the rows that refer to others. It has a column `id`. */
  table: string;
  /** Its column of ids: `bigint[] NOT NULL`. */
  column: string;
  /** The table whose ids they are. */
  target: string;
}

/**
 * For a migration: keeps a column of ids true. Each id also stands in the table `<table>_<column>`, whose foreign keys decide
 * which ids there may be: a statement with an unknown one is 400 at that attribute. A row of `target` that is deleted goes
 * from all lists, which gives their rows a new version. Other statements may join that table, but must not write it.
 */
export async function linkRows(database: QueryRunner, { table, column, target }: Link): Promise<void> {
  const link = `${table}_${column}`;
  await database.query(`
    CREATE TABLE ${link} (
      row_id bigint NOT NULL CONSTRAINT ${link}_row_id_fkey REFERENCES ${table} ON DELETE CASCADE,
      target_id bigint NOT NULL CONSTRAINT ${link}_fkey REFERENCES ${target} ON DELETE CASCADE,
      CONSTRAINT ${link}_pkey PRIMARY KEY (row_id, target_id)
    )`);
  await database.query(`CREATE INDEX ${link}_target_id ON ${link} (target_id)`);
  // In the order of the ids, so that statements that lock the same rows of the other table wait for each other in turn.
  const addLinks = `INSERT INTO ${link} SELECT id, one FROM (SELECT NEW.id, unnest(NEW.${column}) AS one) AS links ORDER BY one
        ON CONFLICT ON CONSTRAINT ${link}_pkey DO NOTHING`;
  await database.query(`
    CREATE FUNCTION ${link}_keep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN DELETE FROM ${link} WHERE row_id = NEW.id AND target_id <> ALL (NEW.${column}); END IF;
      ${addLinks};
      RETURN NULL;
    END $$`);
  await database.query(
    `CREATE TRIGGER ${link}_added AFTER INSERT ON ${table}
        FOR EACH ROW WHEN (NEW.${column} <> '{}') EXECUTE FUNCTION ${link}_keep()`,
  );
  await database.query(
    `CREATE TRIGGER ${link}_changed AFTER UPDATE OF ${column} ON ${table}
        FOR EACH ROW WHEN (OLD.${column} IS DISTINCT FROM NEW.${column}) EXECUTE FUNCTION ${link}_keep()`,
  );
  // It changes nothing after a link that a list has lost itself, or whose row is gone.
  await database.query(`
    CREATE FUNCTION ${link}_forget() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE ${table} SET ${column} = array_remove(${column}, OLD.target_id)
        WHERE id = OLD.row_id AND OLD.target_id = ANY (${column});
      RETURN NULL;
    END $$`);
  await database.query(
    `CREATE TRIGGER ${link}_forgotten AFTER DELETE ON ${link} FOR EACH ROW EXECUTE FUNCTION ${link}_forget()`,
  );
  // Rows that the table has already.
  await database.query(`INSERT INTO ${link} SELECT DISTINCT id, unnest(${column}) FROM ${table}`);
}

/** Reverts {@link linkRows} in `down()`, before the table is dropped. */
export async function unlinkRows(database: QueryRunner, { table, column }: Link): Promise<void> {
  const link = `${table}_${column}`;
  await database.query(`DROP TABLE IF EXISTS ${link}`);
  for (const name of ['keep', 'forget']) await database.query(`DROP FUNCTION IF EXISTS ${link}_${name} CASCADE`);
}
