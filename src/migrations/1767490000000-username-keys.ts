import type { MigrationInterface, QueryRunner } from 'typeorm';

interface User {
  id: number;
  username: string;
  username_key: string;
}

/**
 * Compares usernames by NFKC, so that full-width letters don't make a different name. Almost all keys are in that form.
 *
 * If two users would get the same key, the one that has it, or else the older one, keeps its name. The other gets a key
 * that nobody can type: that user signs in by e-mail address, and may choose another name.
 */
export class UsernameKeys1767490000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // The lock prevents registrations, so that a free key stays free.
    await database.query('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
    const users = (await database.query(
      `SELECT id, username_key FROM users
        WHERE username_key IS NOT NFKC NORMALIZED AND deleted_at IS NULL ORDER BY id`,
    )) as Pick<User, 'id' | 'username_key'>[];
    for (const { id, username_key } of users) {
      await database.query(
        `UPDATE users SET username_key = $2 WHERE id = $1
            AND NOT EXISTS (SELECT FROM users AS other WHERE other.username_key = $2 AND other.deleted_at IS NULL)`,
        [id, fold(username_key.normalize('NFKC'))],
      );
    }
  }

  /** Names that differ in NFKC also differ in NFC, so the old keys are unique. */
  async down(database: QueryRunner): Promise<void> {
    const users = (await database.query(
      'SELECT id, username FROM users WHERE username IS NOT NFKC NORMALIZED',
    )) as Pick<User, 'id' | 'username'>[];
    for (const { id, username } of users) {
      await database.query('UPDATE users SET username_key = $2 WHERE id = $1', [id, fold(username.normalize('NFC'))]);
    }
  }
}

/** A copy of the function at that time, because a migration must never change. */
function fold(text: string): string {
  return text.toUpperCase().toLowerCase().normalize('NFC');
}
