import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nobody can sign in by them, and whoever reads the table could still guess them. */
export class PasswordsOfDeletedUsers1767520000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(
      'UPDATE users SET password_hash = NULL WHERE deleted_at IS NOT NULL AND password_hash IS NOT NULL',
    );
  }

  /** What was cleared is gone, and the release before needs it no more than this one. */
  async down(): Promise<void> {}
}
