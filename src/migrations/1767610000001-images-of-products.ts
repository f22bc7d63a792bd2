import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A product may show a picture, of whichever user. */
export class ImagesOfProducts1767610000001 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE products ADD COLUMN image uuid');
    await database.query("CALL show_images('products')");
  }

  async down(database: QueryRunner): Promise<void> {
    // The triggers let the pictures go.
    await database.query('UPDATE products SET image = NULL WHERE image IS NOT NULL');
    // Unlike the others, this one doesn't go with the column.
    await database.query('DROP TRIGGER products_image_forgotten ON products');
    await database.query('ALTER TABLE products DROP COLUMN image CASCADE');
  }
}
