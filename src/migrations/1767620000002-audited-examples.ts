import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditRows, unauditRows } from '../platform';

/** Who may read what belongs to a post: everybody, or its author alone. Nobody else may once the post is gone. */
const OF_POST = (posts: string) =>
  `coalesce((SELECT CASE posts.status WHEN 'PUBLISHED' THEN 0 ELSE posts.user_id END FROM ${posts}), -1)`;

export class AuditedExamples1767620000002 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await auditRows(database, 'products', { readers: '0' });
    await auditRows(database, 'orders', { omit: ['expires_at'], readers: 'user_id' });
    await auditRows(database, 'posts', { readers: "CASE status WHEN 'PUBLISHED' THEN 0 ELSE user_id END" });
    await auditRows(database, 'comments', { readers: OF_POST('posts WHERE posts.id = post_id') });
    await auditRows(database, 'replies', {
      readers: OF_POST('posts JOIN comments ON comments.post_id = posts.id WHERE comments.id = comment_id'),
    });
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of ['products', 'orders', 'posts', 'comments', 'replies']) await unauditRows(database, table);
  }
}
