import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Deletes password hashes of deleted users. Nobody can sign in with them, but a reader of the table could still guess
 * the passwords.
 */
export class PasswordsOfDeletedUsers1767520000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(
      'UPDATE users SET password_hash = NULL WHERE deleted_at IS NOT NULL AND password_hash IS NOT NULL',
    );
  }

  /** The hashes can't be restored, and the last release doesn't need them either. */
  async down(): Promise<void> {}
}
