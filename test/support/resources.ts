import { sortableOf } from '../../src/platform/testing';
import { declaredDefaults } from './declared-defaults';
import type { Resource } from './resource';
import { comments } from './resources/comments';
import { orders } from './resources/orders';
import { posts } from './resources/posts';
import { products } from './resources/products';
import { replies } from './resources/replies';
import { uploads } from './resources/uploads';
import { users } from './resources/users';

/** All tested resources, in the order in which their collections are filled. */
export const RESOURCES = [
  users,
  products,
  orders,
  uploads,
  posts,
  comments,
  replies,
  // One line for each, so that adding one changes one line.
];

export const writablesOf = (resources: Resource[]) =>
  resources.flatMap(({ noun, writable }) =>
    writable ? [{ noun, ...writable, defaults: declaredDefaults(writable.input) }] : [],
  );
export const collectionsOf = (resources: Resource[]) =>
  resources.flatMap(({ collections }) => collections.map((one) => ({ ...one, sortable: sortableOf(one.sortable) })));

export const WRITABLES = writablesOf(RESOURCES);
export const COLLECTIONS = collectionsOf(RESOURCES);

/** The list of the resources of a documented path, below the first parent if there is one. */
export function collectionOf(path: string): string {
  const noun = path
    .replace(/\/\{\w+\}$/, '')
    .split('/')
    .at(-1);
  return COLLECTIONS.find(({ name }) => name.endsWith(`/${noun}`))!.name.replace(/\{\w+\}/, '1');
}
