import type { CalledPaths, Paths } from './called-paths';

/** What the client has to know of the paths while it runs. */
export interface Routes {
  /** By their paths: the name in the client, the path of one item, and whether POST takes a list of inputs. */
  collections: Record<string, { name: string; item: string | null; takesList: boolean }>;
  /** The paths whose POST takes an Idempotency-Key. */
  keyed: string[];
  /** Whether the feed of changes waits for one. */
  waits: boolean;
}

/** It has pages, and no items: the client has a call of its own for it. */
const FEED = '/changes';

/** A collection below a parent has its items at its own path, and its list at the parent's. */
export function routesOf({ paths }: CalledPaths): Routes {
  const nouns = [...new Set(Object.keys(paths).flatMap((path) => /^\/[^/{]+(?=\/\{[^/]+\}$|$)/.exec(path)?.[0] ?? []))];
  const found = nouns.filter((path) => path !== FEED && (isPaged(paths, path) || itemOf(paths, path) !== null));
  const collections = found.map(
    (path) => [path, { name: nameOf(path), item: itemOf(paths, path), takesList: takesList(paths, path) }] as const,
  );
  const keyed = Object.keys(paths).filter((path) => hasParameter(paths[path].post, 'header', 'Idempotency-Key'));
  const waits = hasParameter(paths[FEED]?.get, 'query', 'wait');
  return { collections: Object.fromEntries(collections), keyed, waits };
}

const isPaged = (paths: Paths, path: string): boolean => hasParameter(paths[path]?.get, 'query', 'size');

const takesList = (paths: Paths, path: string): boolean => 'x-list-of-inputs' in (paths[path]?.post ?? {});

/** `/credit-notes` becomes `creditNotes`. */
const nameOf = (path: string): string =>
  path.slice(1).replaceAll(/[^a-zA-Z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase());

function itemOf(paths: Paths, path: string): string | null {
  const item = Object.keys(paths).find(
    (one) => one.startsWith(`${path}/{`) && !one.slice(path.length + 1).includes('/'),
  );
  return item ?? null;
}

function hasParameter(operation: Paths[string][string] | undefined, place: string, name: string): boolean {
  return (operation?.parameters ?? []).some((one) => 'name' in one && one.in === place && one.name === name);
}
