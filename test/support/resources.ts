import { sortableOf } from '../../src/platform/testing';
import { NOUNS, tableOf } from './asked';
import { declaredDefaults } from './declared-defaults';
import type { Resource } from './resource';
import { auditEvents } from './resources/audit-events';
import { changes } from './resources/changes';
import { comments } from './resources/comments';
import { orders } from './resources/orders';
import { posts } from './resources/posts';
import { products } from './resources/products';
import { replies } from './resources/replies';
import { uploads } from './resources/uploads';
import { users } from './resources/users';
import { webhooks } from './resources/webhooks';

/** All tested resources, in the order in which their collections are filled. */
export const RESOURCES = [
  users,
  products,
  orders,
  uploads,
  posts,
  comments,
  replies,
  auditEvents,
  webhooks,
  changes,
  // One line for each, so that adding one changes one line.
];

/** Those of them that the tests of all resources ask in this run. */
export const ASKED = RESOURCES.filter(({ noun }) => NOUNS?.includes(noun) ?? true);

export const writablesOf = (resources: Resource[]) =>
  resources.flatMap(({ noun, writable, collections, requests }) => {
    if (!writable) return [];
    const [first] = collections;
    const table = writable.table ?? first?.table ?? (first && tableOf(first.sortable)) ?? noun.replaceAll('-', '_');
    return [{ noun, ...writable, requests, table, defaults: declaredDefaults(writable.input) }];
  });
export const collectionsOf = (resources: Resource[]) =>
  resources.flatMap(({ noun, collections }) =>
    collections.map((one) => ({
      ...{ noun, ...one, sortable: sortableOf(one.sortable) },
      table: one.table ?? tableOf(one.sortable) ?? noun.replaceAll('-', '_'),
    })),
  );

export const WRITABLES = writablesOf(ASKED);
export const COLLECTIONS = collectionsOf(ASKED);

/** The list of the resources of a documented path, below the first parent if there is one. */
export function collectionOf(path: string): string {
  const noun = path
    .replace(/\/\{\w+\}$/, '')
    .split('/')
    .at(-1);
  return COLLECTIONS.find(({ name }) => name.endsWith(`/${noun}`))!.name.replace(/\{\w+\}/, '1');
}
