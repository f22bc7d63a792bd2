/** Queries that every list refuses, with the parameter and the rule that its answer names. */
export const WRONG_LISTS: [query: string, field: string, rule: string][] = [
  ['page=-1', 'page', 'range'],
  ['page=1.5', 'page', 'range'],
  ['page=2147483648', 'page', 'range'],
  ['size=0', 'size', 'range'],
  ['size=101', 'size', 'range'],
  ['limit=101', 'limit', 'range'],
  ['size=2&limit=3', 'limit', 'twin'],
  ['sort=version', 'sort', 'enum'],
  ['sort=', 'sort', 'enum'],
  ['sortBy=deleted_at', 'sortBy', 'enum'],
  ['order=up', 'order', 'enum'],
  ['search=', 'search', 'length'],
  ['search=%20', 'search', 'length'],
  [`search=${'x'.repeat(101)}`, 'search', 'length'],
  ['search=a%00', 'search', 'characters'],
  ['fields=', 'fields', 'enum'],
  ['fields=id,deleted_at', 'fields', 'enum'],
  ['colour=red', 'colour', 'unknown'],
  ['cursor=x', 'cursor', 'unknown'],
  ['page=0&page=0', 'page', 'once'],
];

/** Those that a list with these sortable names refuses. */
export function wrongListsOf([, second]: readonly string[], isSearched: boolean): [string, string, string][] {
  return [
    ...WRONG_LISTS.filter(([, field]) => (isSearched || field !== 'search') && (second || field !== 'sortBy')),
    ...(second ? [[`sort=id&sortBy=${second}`, 'sortBy', 'twin'] as [string, string, string]] : []),
  ];
}
