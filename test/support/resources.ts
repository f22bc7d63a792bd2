import { comments } from './resources/comments';
import { orders } from './resources/orders';
import { posts } from './resources/posts';
import { products } from './resources/products';
import { replies } from './resources/replies';
import { uploads } from './resources/uploads';
import { users } from './resources/users';

/** Every resource that the tests ask, in the order in which their collections are filled. */
export const RESOURCES = [
  users,
  products,
  orders,
  uploads,
  posts,
  comments,
  replies,
  // A line each, so that another one is a line more.
];

export const WRITABLES = RESOURCES.flatMap(({ noun, writable }) => (writable ? [{ noun, ...writable }] : []));
export const COLLECTIONS = RESOURCES.flatMap(({ collections }) => collections);
