import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Rows with a column of a type that has no equality, such as `json` or `point`, couldn't be changed at all: the trigger
 * compared them by it. The bytes of two rows can always be compared.
 */
export class TouchEveryType1767510000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await replace(database, 'NEW *<> OLD');
  }

  async down(database: QueryRunner): Promise<void> {
    await replace(database, 'NEW IS DISTINCT FROM OLD');
  }
}

async function replace(database: QueryRunner, condition: string): Promise<void> {
  await database.query(`
    CREATE OR REPLACE FUNCTION touch_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF ${condition} THEN
        NEW.version := OLD.version + 1;
        NEW.updated_at := now();
      END IF;
      RETURN NEW;
    END $$`);
}
