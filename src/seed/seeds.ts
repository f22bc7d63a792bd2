import { comments, posts, replies } from './rows/posts';
import { orders, products } from './rows/shop';
import { users } from './rows/users';
import { declareSeeds } from './rows/world';

declareSeeds(
  users,
  products,
  orders,
  posts,
  comments,
  replies,
  // One line for each, so that adding one changes one line.
);
