import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** The key of the lock on everything below a post. @param id an expression of SQL, or a parameter */
const lockOf = (id: string) => `hashtextextended('resource-api: discussion of post ' || ${id}, 0)`;

/**
 * Shares the lock on everything below a post until the transaction ends, before the statement locks rows. Whoever
 * deletes has the lock alone, see {@link endDiscussion}. The key of a row that newcomers may share would not do:
 * PostgreSQL gives it to them before a deletion that waits, so a stream of comments would keep the deletion from it.
 * @param post the column of the post's id, e.g. `comment.post_id`
 */
export function joinDiscussion<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  post: string,
): SelectQueryBuilder<E> {
  return builder.andWhere(`(SELECT pg_advisory_xact_lock_shared(${lockOf(post)})::text) = ''`);
}

/** Waits until nobody adds to what is below a post, and keeps others from it until the transaction ends. */
export async function endDiscussion(manager: EntityManager, postId: number): Promise<void> {
  await manager.query(`SELECT pg_advisory_xact_lock(${lockOf('$1')})`, [postId]);
}
