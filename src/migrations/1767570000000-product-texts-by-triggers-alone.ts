import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Triggers alone keep the texts of products, without a foreign key: it read and locked the new product's row once more,
 * a third of what PostgreSQL did for a new product. The triggers follow each insert, update, delete and TRUNCATE.
 */
export class ProductTextsByTriggersAlone1767570000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE product_texts DROP CONSTRAINT product_texts_product_id_fkey');
    await database.query(`
      CREATE OR REPLACE FUNCTION keep_product_texts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO product_texts (product_id, name, description) VALUES (NEW.id, NEW.name, NEW.description);
        ELSE
          UPDATE product_texts SET product_id = NEW.id, name = NEW.name, description = NEW.description
            WHERE product_id = OLD.id;
        END IF;
        RETURN NULL;
      END $$`);
    await database.query(`
      CREATE FUNCTION drop_product_texts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN DELETE FROM product_texts WHERE product_id = OLD.id;
        ELSE TRUNCATE product_texts;
        END IF;
        RETURN NULL;
      END $$`);
    // Looks at the row only if a statement sets one of the columns, which that of an order doesn't.
    await database.query(`
      CREATE OR REPLACE TRIGGER products_texts_update AFTER UPDATE OF id, name, description ON products FOR EACH ROW
        WHEN ((OLD.id, OLD.name, OLD.description) IS DISTINCT FROM (NEW.id, NEW.name, NEW.description))
        EXECUTE FUNCTION keep_product_texts()`);
    await database.query(
      'CREATE TRIGGER products_texts_delete AFTER DELETE ON products FOR EACH ROW EXECUTE FUNCTION drop_product_texts()',
    );
    await database.query(
      'CREATE TRIGGER products_texts_truncate AFTER TRUNCATE ON products FOR EACH STATEMENT EXECUTE FUNCTION drop_product_texts()',
    );
  }

  async down(database: QueryRunner): Promise<void> {
    // With both triggers of it.
    await database.query('DROP FUNCTION drop_product_texts CASCADE');
    await database.query(`
      CREATE OR REPLACE TRIGGER products_texts_update AFTER UPDATE OF name, description ON products FOR EACH ROW
        WHEN ((OLD.name, OLD.description) IS DISTINCT FROM (NEW.name, NEW.description))
        EXECUTE FUNCTION keep_product_texts()`);
    await database.query(`
      CREATE OR REPLACE FUNCTION keep_product_texts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO product_texts (product_id, name, description) VALUES (NEW.id, NEW.name, NEW.description)
          ON CONFLICT (product_id) DO UPDATE SET name = excluded.name, description = excluded.description;
        RETURN NULL;
      END $$`);
    await database.query(
      'ALTER TABLE product_texts ADD CONSTRAINT product_texts_product_id_fkey FOREIGN KEY (product_id) REFERENCES products ON DELETE CASCADE',
    );
  }
}
