import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { type Caller, isAdmin } from '../../platform';
import { PostStatus } from './post.entity';

/**
 * Excludes rows of drafts that this caller must not see. Only its author and administrators see a draft.
 * @param post the alias of the post in the query
 */
export function onlyVisible<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  post: string,
  caller: Caller | undefined,
): SelectQueryBuilder<E> {
  if (isAdmin(caller)) return builder;
  const published = `${post}.status = :published`;
  const condition = caller ? `(${published} OR ${post}.user_id = :reader)` : published;
  return builder.andWhere(condition, { published: PostStatus.PUBLISHED, reader: caller?.id });
}
