import { validationError } from '../errors/api-error';
import { comparisonsIn } from '../input/comparison';
import { type ListQuery, sortOf } from './list-query';

/**
 * Refuses to sort or filter by attributes that the caller may not see: the result would tell what they are.
 * @throws {ApiError} VALIDATION_ERROR
 */
export function requireVisible(query: ListQuery, hidden: readonly string[] = []): void {
  if (hidden.length === 0) return;
  const isHidden = (name: string) => hidden.includes(name);
  const sort = sortOf(query);
  const refused = comparisonsIn(query).filter(({ attribute }) => isHidden(attribute));
  const violations = [
    ...(isHidden(sort) ? [{ field: 'sort', rule: 'access', message: `${sort} is not for you to sort by` }] : []),
    ...refused.map(({ parameter }) => ({ field: parameter, rule: 'access', message: 'is not for you to filter by' })),
  ];
  if (violations.length > 0) throw validationError(violations);
}
