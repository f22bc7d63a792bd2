import type { MigrationInterface, QueryRunner } from 'typeorm';
import { removeAuditsTogether, renewAuditTriggers } from '../../rows/audit-rows';

/**
 * One statement that updates rows of several requests leaves its events by one INSERT. The build before doesn't know the
 * trigger, and none of its statements wakes it.
 */
export class AuditUpdatesTogether1767720000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await renewAuditTriggers(database);
  }

  async down(database: QueryRunner): Promise<void> {
    await removeAuditsTogether(database);
  }
}
