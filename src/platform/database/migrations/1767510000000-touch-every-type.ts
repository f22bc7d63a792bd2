import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Compares the bytes of two rows instead of their values. Values of some types, such as `json` or `point`, have no
 * equality, so rows with such a column couldn't be updated.
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
