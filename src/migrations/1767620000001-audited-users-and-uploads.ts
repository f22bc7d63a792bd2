import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditRows, unauditRows } from '../platform';

export class AuditedUsersAndUploads1767620000001 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await auditRows(database, 'users', {
      secret: ['password_hash'],
      omit: ['username_key', 'email_key'],
      readers: '0',
    });
    // A sign-in makes a session, and a sign-out deletes it.
    await auditRows(database, 'sessions', { secret: ['family_hash'], omit: ['expires_at'] });
    await auditRows(database, 'uploads', {
      id: 'key',
      omit: ['metadata', 'hash_state', 'next_offset', 'next_hash_state'],
    });
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of ['users', 'sessions', 'uploads']) await unauditRows(database, table);
  }
}
