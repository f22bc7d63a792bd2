import type { MigrationInterface, QueryRunner } from 'typeorm';

interface User {
  id: number;
  username: string;
  username_key: string;
}

/**
 * Usernames are compared by NFKC, so that full-width letters make no other name. Almost all keys are in that form.
 *
 * Where two users would get one key, the one that has it, or else the older one, keeps its name. The other keeps a key that
 * nobody can type: it signs in with its e-mail address, and may take another name.
 */
export class UsernameKeys1767490000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Nobody registers meanwhile, so a key that is free stays free.
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

  /** What NFC tells apart is at least what NFKC does. */
  async down(database: QueryRunner): Promise<void> {
    const users = (await database.query(
      'SELECT id, username FROM users WHERE username IS NOT NFKC NORMALIZED',
    )) as Pick<User, 'id' | 'username'>[];
    for (const { id, username } of users) {
      await database.query('UPDATE users SET username_key = $2 WHERE id = $1', [id, fold(username.normalize('NFC'))]);
    }
  }
}

/** As it was when this was written: a migration does the same for ever. */
function fold(text: string): string {
  return text.toUpperCase().toLowerCase().normalize('NFC');
}
