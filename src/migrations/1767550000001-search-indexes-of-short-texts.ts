import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = ['users_username_search', 'users_email_search', 'users_name_search', 'uploads_filename_search'];
/** KiB of entries that PostgreSQL collects before somebody's write sorts them in: some ten milliseconds of work. */
const COLLECTED = 256;

/** No write has to sort in much that others have left. A database whose indexes have this limit already keeps it. */
export class SearchIndexesOfShortTexts1767550000001 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    for (const index of INDEXES) {
      await database.query(`ALTER INDEX ${index} SET (gin_pending_list_limit = ${COLLECTED})`);
    }
  }

  async down(database: QueryRunner): Promise<void> {
    for (const index of INDEXES) await database.query(`ALTER INDEX ${index} RESET (gin_pending_list_limit)`);
  }
}
