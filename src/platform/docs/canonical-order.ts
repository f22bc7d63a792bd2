/** The parts of a document whose order is settled here. */
interface Ordered {
  tags?: { name: string }[];
  paths?: object;
  components?: object;
}

/** In this order Swagger UI shows them: the methods of a collection, then those of one resource. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** The first keys of a document. Others follow them. */
const HEAD = ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components'];

/**
 * The same document in an order that follows from names alone (D-215): paths, methods, tags and components. The modules
 * and their order have no influence, so the parts of a document can be joined again.
 */
export function inCanonicalOrder<D extends Ordered>(document: D): D {
  const paths = sortedPaths((document.paths ?? {}) as Record<string, object>);
  const inApi = new Set(Object.entries(paths).flatMap(([path, item]) => (isInApi(path) ? tagsOf(item) : [])));
  const tags = [...(document.tags ?? [])].sort(
    (one, other) => Number(inApi.has(other.name)) - Number(inApi.has(one.name)) || compare(one.name, other.name),
  );
  const kinds = Object.entries<object>({ ...document.components }).map(([kind, named]): [string, object] => [
    kind,
    Object.fromEntries(sorted(Object.entries(named))),
  ]);
  const ordered: D = { ...document, paths, tags, components: Object.fromEntries(sorted(kinds)) };
  return Object.fromEntries(sorted(Object.entries(ordered), HEAD)) as D;
}

/** The paths of the API first, each with its methods in one order. */
export function sortedPaths<I extends object>(paths: Record<string, I>): Record<string, I> {
  const items = Object.entries(paths).sort(
    ([one], [other]) => Number(isInApi(other)) - Number(isInApi(one)) || compare(one, other),
  );
  return Object.fromEntries(
    items.map(([path, item]) => [path, Object.fromEntries(sorted(Object.entries(item), METHODS)) as I]),
  );
}

const isInApi = (path: string): boolean => path.startsWith('/api/');

const tagsOf = (item: object): string[] =>
  Object.values(item as Record<string, { tags?: string[] }>).flatMap(({ tags = [] }) => tags);

/** By their place in the list, and then by name. */
function sorted<T>(entries: [string, T][], first: string[] = []): [string, T][] {
  const placeOf = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...entries].sort(([one], [other]) => placeOf(one) - placeOf(other) || compare(one, other));
}

/** By code units, not by a language, so that each machine has the same order. */
const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
