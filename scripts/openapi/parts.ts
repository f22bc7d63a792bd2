import { isDeepStrictEqual } from 'node:util';
import { inCanonicalOrder } from '../../src/platform/docs/canonical-order';

type Components = Record<string, Record<string, object>>;
type PathItem = Record<string, { tags?: string[] }>;

/** A document, or a part of one. Only what parts are cut by has a type. */
export interface OpenApi {
  tags?: { name: string }[];
  paths?: Record<string, PathItem>;
  /** What the service itself sends, by name. */
  webhooks?: Record<string, PathItem>;
  components?: Components;
  [other: string]: unknown;
}

/** The part with all that belongs to no group of operations. No group's name begins with an underscore. */
export const SHARED = '_shared';
/** The end of the name of what a read with `fields` may have. */
const VIEW = 'View';
const REFERENCE = /"#\/components\/(\w+)\/([\w.-]+)"/g;
/** The schemas of the service itself, so no group has a copy. The responses to errors are the other such components. */
const OF_THE_SERVICE = ['schemas/ApiError', 'schemas/Pagination', 'schemas/CursorPagination'];

/**
 * Cuts a document into one part for each group of operations, and one with the rest. A part has all components that its
 * operations need, even if others need them too, except for those of the service itself: so a new group changes no other
 * part (D-215).
 * @returns the parts by the names of their files, without the extension
 * @throws {Error} if an operation is in no group, or two groups have one name
 */
export function partsOf({
  tags = [],
  paths = {},
  webhooks = {},
  components = {},
  ...rest
}: OpenApi): Map<string, OpenApi> {
  const groups = new Map<string, OpenApi & { paths: Record<string, PathItem> }>();
  for (const tag of tags) {
    const name = fileOf(tag.name);
    if (groups.has(name)) throw new Error(`Two groups of operations would have the file ${name}.json: rename one`);
    groups.set(name, { tags: [tag], paths: {} });
  }
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const group = groups.get(fileOf(operation.tags?.[0] ?? ''));
      if (!group)
        throw new Error(`${method.toUpperCase()} ${path} is in no group: add @ApiResource() to its controller`);
      (group.paths[path] ??= {})[method] = operation;
    }
  }
  for (const [name, item] of Object.entries(webhooks)) {
    const [{ tags: [tag] = [''] }] = Object.values(item);
    const group = groups.get(fileOf(tag));
    if (!group) throw new Error(`The webhook ${name} is in no group: give declareWebhook() that of a controller`);
    (group.webhooks ??= {})[name] = item;
  }
  const common = commonOf(components);
  const needed = new Set<string>();
  for (const group of groups.values()) {
    const own = namesNeededBy({ ...group.paths, ...group.webhooks }, components);
    own.forEach((name) => needed.add(name));
    group.components = pick(components, (name) => own.has(name) && !common.has(name));
  }
  const shared = pick(components, (name) => !needed.has(name) || common.has(name));
  return new Map<string, OpenApi>([[SHARED, { ...rest, components: shared }], ...groups]);
}

/** `kind/name` of the components of the service itself: shared responses, paginations, and all that they refer to. */
function commonOf(components: Components): Set<string> {
  const roots = pick(components, (name) => name.startsWith('responses/') || OF_THE_SERVICE.includes(name));
  const names = Object.entries(roots).flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`));
  return new Set([...names, ...namesNeededBy(roots, components)]);
}

/** @throws {Error} naming each thing that two parts describe differently */
export function joined(parts: Map<string, OpenApi>): OpenApi {
  const problems: string[] = [];
  const owners = new Map<string, string>();
  const whole = { tags: [] as { name: string }[], paths: {} as Record<string, PathItem>, components: {} as Components };
  const webhooks: Record<string, PathItem> = {};
  /** Adds a value unless it is there; another value of the same name is a problem. */
  const add = <T>(target: Record<string, T>, name: string, value: T, where: string, file: string): void => {
    const owner = owners.get(where);
    owners.set(where, owner ?? file);
    if (owner === undefined) target[name] = value;
    else if (!isDeepStrictEqual(target[name], value)) {
      problems.push(`${where} in ${file}.json differs from the one in ${owner}.json`);
    }
  };
  for (const [file, { tags = [], paths = {}, components = {}, ...part }] of parts) {
    whole.tags.push(...tags);
    for (const [path, item] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        add((whole.paths[path] ??= {}), method, operation, `${method.toUpperCase()} ${path}`, file);
      }
    }
    for (const [name, item] of Object.entries(part.webhooks ?? {})) add(webhooks, name, item, `webhook ${name}`, file);
    for (const [kind, named] of Object.entries(components)) {
      for (const [name, one] of Object.entries(named)) {
        add((whole.components[kind] ??= {}), name, one, `${kind}/${name}`, file);
      }
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const sent = Object.keys(webhooks).length > 0 ? { webhooks } : {};
  return inCanonicalOrder({ ...parts.get(SHARED), ...whole, ...sent });
}

/** `Credit notes` becomes `credit-notes`, as in the paths of the resource. */
const fileOf = (tag: string): string =>
  tag
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join('-') ?? '';

/** `kind/name` of all components that these paths refer to, and that those refer to. */
function namesNeededBy(paths: object, components: Components): Set<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    for (const [, kind, name] of JSON.stringify(node).matchAll(REFERENCE)) {
      const key = `${kind}/${name}`;
      if (found.has(key)) continue;
      found.add(key);
      // A view stands for the whole resource, which says what a read without `fields` has.
      if (name.endsWith(VIEW)) visit({ $ref: `#/components/${kind}/${name.slice(0, -VIEW.length)}` });
      if (components[kind]?.[name]) visit(components[kind][name]);
    }
  };
  visit(paths);
  return found;
}

/** The components of the chosen names. Kinds of which nothing is left are left out. */
function pick(components: Components, isChosen: (name: string) => boolean): Components {
  const kinds = Object.entries(components).map(([kind, named]): [string, Record<string, object>] => [
    kind,
    Object.fromEntries(Object.entries(named).filter(([name]) => isChosen(`${kind}/${name}`))),
  ]);
  return Object.fromEntries(kinds.filter(([, named]) => Object.keys(named).length > 0));
}
