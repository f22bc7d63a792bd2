import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** What others write below. */
type Parent = 'post' | 'comment';

/** The key of the lock on everything below a parent. @param id an expression of SQL, or a parameter */
const lockOf = (parent: Parent, id: string) => `hashtextextended('resource-api: below ${parent} ' || ${id}, 0)`;

/**
 * Shares the locks on everything below some parents until the transaction ends, before the statement locks rows. Whoever
 * deletes a parent has its lock alone, see {@link endDiscussion}. The lock on the parent's key would not do: PostgreSQL
 * gives it to newcomers before a deletion that waits, so a stream of comments would keep the deletion from it.
 * @param parents with the columns of their ids, in the order of their locks: the innermost first, so that nobody waits
 * for the end of a comment with the lock of its post
 */
export function joinDiscussion<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  ...parents: [parent: Parent, id: string][]
): SelectQueryBuilder<E> {
  const locks = parents.map(([parent, id]) => `pg_advisory_xact_lock_shared(${lockOf(parent, id)})::text`);
  return builder.andWhere(`(SELECT ${locks.join(' || ')}) = ''`);
}

/** Waits until nobody adds to what is below a parent, and keeps others from it until the transaction ends. */
export async function endDiscussion(manager: EntityManager, parent: Parent, id: number): Promise<void> {
  await manager.query(`SELECT pg_advisory_xact_lock(${lockOf(parent, '$1')})`, [id]);
}
