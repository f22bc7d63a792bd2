import type { MigrationInterface, QueryRunner } from 'typeorm';

const IS_PICTURE = `NEW.status = 'COMPLETE' AND NEW.visibility = 'PUBLIC'
        AND NEW.media_type IN ('image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif')`;

/**
 * Uploads may be public, and rows of other tables may show a public image. The table `pictures` has the uploads that may be
 * shown, and `shown_pictures` those that are: their foreign keys decide, whatever runs at the same time. A resource takes
 * part by a column `image` and `CALL show_images()`, as users do here.
 */
export class PublicUploads1767610000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      ALTER TABLE uploads ADD COLUMN visibility text NOT NULL DEFAULT 'PRIVATE'
        CONSTRAINT uploads_visibility_known CHECK (visibility IN ('PRIVATE', 'PUBLIC'))`);
    await database.query(`
      CREATE TABLE pictures (
        key uuid CONSTRAINT pictures_pkey PRIMARY KEY
          CONSTRAINT pictures_key_fkey REFERENCES uploads (key) ON DELETE CASCADE,
        user_id bigint NOT NULL
      )`);
    await database.query(`
      CREATE FUNCTION keep_pictures() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF ${IS_PICTURE} THEN
          INSERT INTO pictures (key, user_id) VALUES (NEW.key, NEW.user_id) ON CONFLICT DO NOTHING;
        ELSE
          DELETE FROM pictures WHERE key = NEW.key;
        END IF;
        RETURN NULL;
      END $$`);
    await database.query(`
      CREATE TRIGGER uploads_pictures AFTER UPDATE OF status, visibility, media_type ON uploads FOR EACH ROW
        WHEN ((OLD.status, OLD.visibility, OLD.media_type) IS DISTINCT FROM (NEW.status, NEW.visibility, NEW.media_type))
        EXECUTE FUNCTION keep_pictures()`);
    await this.showPictures(database);
    await database.query('ALTER TABLE users ADD COLUMN image uuid');
    await database.query("CALL show_images('users')");
  }

  private async showPictures(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE TABLE shown_pictures (
        table_name text NOT NULL,
        row_id bigint NOT NULL,
        image uuid NOT NULL CONSTRAINT shown_pictures_image_fkey REFERENCES pictures ON DELETE RESTRICT,
        CONSTRAINT shown_pictures_pkey PRIMARY KEY (table_name, row_id)
      )`);
    await database.query('CREATE INDEX shown_pictures_image ON shown_pictures (image)');
    await database.query(`
      CREATE FUNCTION keep_image() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' OR NEW.image IS NULL THEN
          DELETE FROM shown_pictures WHERE table_name = TG_TABLE_NAME AND row_id = OLD.id;
        ELSE
          INSERT INTO shown_pictures (table_name, row_id, image) VALUES (TG_TABLE_NAME, NEW.id, NEW.image)
            ON CONFLICT ON CONSTRAINT shown_pictures_pkey DO UPDATE SET image = excluded.image;
        END IF;
        RETURN NULL;
      END $$`);
    // Nobody sees the picture of a hidden row.
    await database.query(`
      CREATE FUNCTION forget_image() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.image := NULL;
        RETURN NEW;
      END $$`);
    await database.query(`
      CREATE PROCEDURE show_images(shower regclass) LANGUAGE plpgsql AS $$
      DECLARE
        event record;
      BEGIN
        FOR event IN VALUES
          ('added', 'INSERT', 'NEW.image IS NOT NULL'),
          ('changed', 'UPDATE', 'OLD.image IS DISTINCT FROM NEW.image'),
          ('removed', 'DELETE', 'OLD.image IS NOT NULL')
        LOOP
          EXECUTE format(
            'CREATE TRIGGER %I AFTER %s ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION keep_image()',
            shower || '_image_' || event.column1, event.column2, shower, event.column3);
        END LOOP;
        IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = shower AND attname = 'deleted_at') THEN
          EXECUTE format(
            'CREATE TRIGGER %I BEFORE UPDATE OF deleted_at ON %s FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION forget_image()',
            shower || '_image_forgotten', shower);
        END IF;
      END $$`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE users DROP COLUMN image CASCADE');
    await database.query('DROP PROCEDURE show_images');
    await database.query('DROP FUNCTION keep_image, forget_image CASCADE');
    await database.query('DROP TRIGGER uploads_pictures ON uploads');
    await database.query('DROP FUNCTION keep_pictures');
    await database.query('DROP TABLE shown_pictures, pictures');
    await database.query('ALTER TABLE uploads DROP COLUMN visibility');
  }
}
