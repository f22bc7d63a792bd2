import { type Change, Changes, pairs } from './change';
import type { Document, Operation } from './document';
import { compareOperations } from './operations';

export type { Change } from './change';
export type { Document } from './document';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

/** All that callers may notice between two documents of one version of the API. Sentences and examples don't count. */
export function changesBetween(before: Document, after: Document): Change[] {
  const found = pairs(operationsOf(before), operationsOf(after)).map(([where, old, now]) => {
    const changes = new Changes(where);
    if (!now) changes.breaks('is gone');
    else if (!old) changes.adds('is new');
    else compareOperations(old, now, [before, after], changes);
    return changes.all;
  });
  return unique(found.flat());
}

/** By method and path. The names of the parameters in a path are not sent, so they are left out. */
function operationsOf({ paths = {} }: Document): Record<string, Operation> {
  const operations = Object.entries(paths).flatMap(([path, item]) => {
    const { parameters: shared = [] } = item as Operation;
    return METHODS.filter((method) => method in item).map((method) => {
      const operation = item[method] as Operation;
      const parameters = [...shared, ...(operation.parameters ?? [])];
      return [`${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`, { ...operation, parameters }] as const;
    });
  });
  return Object.fromEntries(operations);
}

/** Several media types of a body have the same changes. */
function unique(changes: Change[]): Change[] {
  const keys = new Set<string>();
  return changes.filter(({ where, what }) => {
    const key = `${where} ${what}`;
    return keys.has(key) ? false : keys.add(key);
  });
}
