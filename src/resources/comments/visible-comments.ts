import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Caller } from '../../platform';
import { onlyVisible } from '../posts/visible-posts';

/**
 * Excludes comments, or rows below them, whose post this caller must not see.
 * @param comment the alias of the comment in the query
 */
export function onlyBelowVisible<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  comment: string,
  caller: Caller | undefined,
): SelectQueryBuilder<E> {
  return onlyVisible(builder.innerJoin(`${comment}.post`, 'post'), 'post', caller);
}
