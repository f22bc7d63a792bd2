import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditRows, unauditRows } from '../platform';

export class AuditedExamples1767620000002 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    for (const table of ['products', 'posts', 'comments', 'replies']) await auditRows(database, table);
    await auditRows(database, 'orders', { omit: ['expires_at'] });
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of ['products', 'orders', 'posts', 'comments', 'replies']) await unauditRows(database, table);
  }
}
