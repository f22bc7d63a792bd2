import { Comparison } from '../../../src/platform/input/comparison';
import type { ListQuery } from '../../../src/platform/lists/list-query';
import { requireVisible } from '../../../src/platform/lists/require-visible';

describe('An attribute that is hidden from the caller', () => {
  const comparison = new Comparison('salary[gte]', 'salary', '>=', 1);

  it.each<[string, ListQuery & Record<string, unknown>, string]>([
    ['sorted by', { sort: 'salary' }, 'sort'],
    ['compared', { 'salary[gte]': comparison }, 'salary[gte]'],
    ['asked for as a status', { status: 'BANNED' }, 'status'],
  ])('is 400 when it is %s, at the parameter that names it', (_how, query, field) => {
    const check = () => requireVisible(query, ['salary', 'status']);
    expect(check).toThrow(expect.objectContaining({ fields: [expect.objectContaining({ field, rule: 'access' })] }));
  });

  it('is nothing to those who may see it', () => {
    expect(() => requireVisible({ sort: 'salary', status: 'BANNED' }, ['email'])).not.toThrow();
  });
});
