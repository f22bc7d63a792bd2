/** Names of parameters that are lists. */
const names = new Set<PropertyKey>(['fields', 'include']);

/**
 * Declares a parameter as a list, which may be repeated: `ids=1&ids=2` is `ids=1,2`. The parser of queries doesn't know the
 * route of a request, so a name that is a list on one route may be repeated on all.
 */
export const Repeatable = (): PropertyDecorator => (_query, name) => void names.add(name);

export const isRepeatable = (name: string): boolean => names.has(name);
