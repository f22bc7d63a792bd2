import type { MigrationInterface, QueryRunner } from 'typeorm';

/** KiB of entries that PostgreSQL collects before somebody's write sorts them in: some ten milliseconds of work. */
const COLLECTED = 256;

/**
 * Moves the texts that searches of products look through into a table of their own. Every order changes the stock of its
 * products. PostgreSQL writes all index entries of a changed row again, so each order wrote the search entries of long
 * descriptions, and now and then an order had to sort in what many others had left.
 */
export class ProductTexts1767550000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE TABLE product_texts (
        product_id bigint CONSTRAINT product_texts_pkey PRIMARY KEY
          CONSTRAINT product_texts_product_id_fkey REFERENCES products ON DELETE CASCADE,
        name varchar(120) NOT NULL,
        description varchar(2000)
      )`);
    await database.query(`
      CREATE FUNCTION keep_product_texts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO product_texts (product_id, name, description) VALUES (NEW.id, NEW.name, NEW.description)
          ON CONFLICT (product_id) DO UPDATE SET name = excluded.name, description = excluded.description;
        RETURN NULL;
      END $$`);
    await database.query(
      'CREATE TRIGGER products_texts_insert AFTER INSERT ON products FOR EACH ROW EXECUTE FUNCTION keep_product_texts()',
    );
    // Looks at the row only if a statement sets one of the texts, which that of an order doesn't.
    await database.query(`
      CREATE TRIGGER products_texts_update AFTER UPDATE OF name, description ON products FOR EACH ROW
        WHEN ((OLD.name, OLD.description) IS DISTINCT FROM (NEW.name, NEW.description))
        EXECUTE FUNCTION keep_product_texts()`);
    await database.query(
      'INSERT INTO product_texts (product_id, name, description) SELECT id, name, description FROM products',
    );
    for (const column of ['name', 'description']) {
      await database.query(
        `CREATE INDEX product_texts_${column}_search ON product_texts USING gin (${column} gin_trgm_ops) WITH (gin_pending_list_limit = ${COLLECTED})`,
      );
    }
    // Last, because it keeps readers of products waiting until the migration is committed.
    await database.query('DROP INDEX products_name_search, products_description_search');
    await database.query(`ALTER INDEX order_items_name_search SET (gin_pending_list_limit = ${COLLECTED})`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('ALTER INDEX order_items_name_search RESET (gin_pending_list_limit)');
    await database.query('DROP TABLE product_texts');
    await database.query('DROP TRIGGER products_texts_insert ON products');
    await database.query('DROP TRIGGER products_texts_update ON products');
    await database.query('DROP FUNCTION keep_product_texts');
    for (const column of ['name', 'description']) {
      await database.query(`CREATE INDEX products_${column}_search ON products USING gin (${column} gin_trgm_ops)`);
    }
  }
}
