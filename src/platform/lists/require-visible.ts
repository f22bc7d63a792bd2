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
  const compared = comparisonsIn(query).filter(({ attribute }) => isHidden(attribute));
  const parameters = compared.map(({ parameter }) => parameter);
  // Lists had `status` before they had filters, and it is a text.
  if (query.status !== undefined && isHidden('status')) parameters.push('status');
  const violations = [
    ...(isHidden(sort) ? [{ field: 'sort', rule: 'access', message: `${sort} is not for you to sort by` }] : []),
    ...parameters.map((field) => ({ field, rule: 'access', message: 'is not for you to filter by' })),
  ];
  if (violations.length > 0) throw validationError(violations);
}
