import type { Fixtures } from './fixtures';
import { lacks } from './asked';
import type { Resource } from './resource';
import type { writablesOf } from './resources';

type Described = ReturnType<typeof writablesOf>[number];
type Ids = (number | string)[];
interface Item {
  id: number | string;
}

/** Where rows of a resource are created, read and changed, as its requests name the routes. */
export interface Places {
  /** The place of a new row, with the ids of its parents. */
  forNew: (own: Fixtures) => Promise<{ path: string; also?: object; ids: Ids }>;
  /** Remembers the parents of a created row, which are in its path if its routes are nested. */
  add: (item: Item, parents: Ids) => void;
  of: (item: Item) => string;
}

export function placesOf({ noun, requests, place }: Described): Places {
  const parents = new Map<Item['id'], Ids>();
  return {
    async forNew(own) {
      const route = creationOf(noun, requests);
      const given = await place?.(own);
      if (given) return { ids: [], ...given };
      if (!route) lacks([`${noun}: none of its \`requests\` is a POST that creates one, and it has no \`place\``]);
      const { ids = [] } = await requests[route!](own);
      return { path: filled(pathOf(route!), ids), ids };
    },
    add: ({ id }, ids) => void parents.set(id, ids),
    of(item) {
      const path = itemPathOf(noun, requests);
      const [last] = [...path.matchAll(/:(\w+)/g)].reverse();
      const own = (item as unknown as Record<string, string | number>)[last[1]] ?? item.id;
      const isNested = path.split(':').length > 2;
      return filled(path, [...(isNested ? (parents.get(item.id) ?? []) : []), own]);
    },
  };
}

/** The POST of its own collection, or else of the collection below a parent. */
function creationOf(noun: string, requests: Resource['requests']): string | undefined {
  const routes = Object.keys(requests).filter((one) => one.startsWith('POST ') && one.endsWith(`/${noun}`));
  return routes.sort((one, other) => one.length - other.length)[0];
}

function itemPathOf(noun: string, requests: Resource['requests']): string {
  const route = Object.keys(requests).find((one) => one.startsWith('PATCH ') && one.includes(`/${noun}/:`));
  if (!route) lacks([`${noun}: \`writable\` needs a PATCH of one row among its \`requests\``]);
  return pathOf(route!);
}

const pathOf = (route: string): string => route.split(' ')[1].replace('/api/v1', '');

function filled(path: string, ids: Ids): string {
  const rest = [...ids];
  return path.replace(/:\w+/g, () => String(rest.shift()));
}
