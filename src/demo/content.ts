import { Role } from '../auth/caller';
import { OrderStatus } from '../resources/orders/order.entity';
import { PostStatus } from '../resources/posts/post.entity';
import { ProductStatus } from '../resources/products/product.entity';
import { UserStatus } from '../resources/users/user.entity';

/** The examples of the documentation name what stands first by its id, 1; ada is who signs in there. */
export const demoUsers = [
  { username: 'ada', name: 'Ada Lovelace' },
  { username: 'grace', name: 'Grace Hopper', roles: [Role.USER, Role.ADMIN] },
  { username: 'edsger', name: 'Edsger Dijkstra' },
  { username: 'barbara', name: 'Barbara Liskov' },
  { username: 'mallory', name: null, status: UserStatus.SUSPENDED },
];

export const demoProducts = [
  { name: 'Espresso cup', description: 'Porcelain, 80 ml.', price: 9.95, stock: 40 },
  { name: 'Coffee grinder', description: 'Steel burrs, turned by hand.', price: 64.5, stock: 12 },
  { name: 'Paper filters', description: 'A hundred of them.', price: 4.2, stock: 500 },
  { name: 'Moka pot', description: null, price: 32, stock: 0 },
  { name: 'Percolator', description: 'No longer made.', price: 49, stock: 3, status: ProductStatus.DISCONTINUED },
];

export const demoPosts = [
  {
    author: 'ada',
    title: 'Notes on the Analytical Engine',
    content: 'It has no pretensions to originate anything.',
    comments: [
      {
        author: 'grace',
        content: 'Could it compose music, then?',
        replies: [{ author: 'ada', content: 'If the rules of harmony can be written down, yes.' }],
      },
      { author: 'barbara', content: 'It does whatever we know how to order it to perform.', replies: [] },
    ],
  },
  {
    author: 'grace',
    title: 'What a nanosecond looks like',
    content: 'A piece of wire, not quite 30 cm long.',
    comments: [{ author: 'edsger', content: 'I shall hang one up.', replies: [] }],
  },
  { author: 'edsger', title: 'The humble programmer', content: 'Only do what only you can do.', comments: [] },
  {
    author: 'ada',
    title: 'A sum for the Engine',
    content: 'The numbers of Bernoulli, to be continued.',
    status: PostStatus.DRAFT,
    comments: [],
  },
];

export const demoOrders = [
  {
    buyer: 'ada',
    status: OrderStatus.PENDING,
    items: [
      { product: 'Espresso cup', quantity: 2 },
      { product: 'Paper filters', quantity: 1 },
    ],
  },
  { buyer: 'edsger', status: OrderStatus.DELIVERED, items: [{ product: 'Coffee grinder', quantity: 1 }] },
  { buyer: 'barbara', status: OrderStatus.CANCELLED, items: [{ product: 'Moka pot', quantity: 3 }] },
];
