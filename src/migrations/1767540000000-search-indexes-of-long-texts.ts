import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Those of what every user may write, as long and as often as it likes. */
const INDEXES = ['posts_title_search', 'posts_content_search', 'comments_content_search', 'replies_content_search'];

/**
 * Every write pays for its own entries in these indexes. Otherwise PostgreSQL collects the entries in a list, and whoever writes
 * when the list has grown long sorts in what others have left there: a few requests that change the status of long posts had
 * somebody else's write take longer than a request may.
 */
export class SearchIndexesOfLongTexts1767540000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    for (const index of INDEXES) {
      await database.query(`ALTER INDEX ${index} SET (fastupdate = off)`);
      // What was collected until now.
      await database.query(`SELECT gin_clean_pending_list('${index}')`);
    }
  }

  async down(database: QueryRunner): Promise<void> {
    for (const index of INDEXES) await database.query(`ALTER INDEX ${index} RESET (fastupdate)`);
  }
}
