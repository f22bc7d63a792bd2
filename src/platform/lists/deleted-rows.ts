import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { type Caller, isAdmin } from '../auth/caller';
import { validationError } from '../errors/api-error';
import { isWriter } from '../transactions/writer';
import { DELETED_ONLY } from './list-parameters';
import { type ListQuery, WORK } from './list-query';
import { ROW } from './row-sizes';

/** Whether the caller asks for the deleted rows of a list instead of the others. */
export const wantsDeleted = ({ deleted }: ListQuery): boolean => deleted === DELETED_ONLY;

/**
 * Refuses the deleted rows of a list to all but administrators, and to whoever reads a list without a request (D-271).
 * @throws {ApiError} VALIDATION_ERROR
 */
export function requireMayReadDeleted(query: ListQuery): void {
  if (!wantsDeleted(query)) return;
  const user = query[WORK]?.origin?.user;
  if (isWriter(user) && isAdmin(user as Caller)) return;
  throw validationError([{ field: 'deleted', rule: 'access', message: 'is for administrators' }]);
}

/** Has a statement read deleted rows too. What was joined before still hides its own deleted rows. */
export function readDeleted<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, query: ListQuery): void {
  if (wantsDeleted(query)) rows.withDeleted();
}

/** Has a statement find the deleted rows alone, if they are asked for. */
export function onlyDeleted<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, query: ListQuery): void {
  if (!wantsDeleted(query)) return;
  const { deleteDateColumn } = rows.expressionMap.mainAlias!.metadata;
  rows.withDeleted().andWhere(`${ROW}.${deleteDateColumn!.propertyPath} IS NOT NULL`);
}
