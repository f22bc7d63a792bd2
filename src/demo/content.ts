import { Role } from '../platform';
import { OrderStatus } from '../resources/orders/order.entity';
import { ProductStatus } from '../resources/products/product.entity';
import { UserStatus } from '../resources/users/user.entity';

// Fixed dates, so that these rows are always the same. They aren't in the order of the ids, so that sorting shows.

/** Printed at the start. It only opens demo accounts, and a start in production refuses accounts that have it. */
export const DEMO_PASSWORD = 'demo-password';

export function demoEmail(username: string): string {
  return `${username}@example.com`;
}

/** The examples of the document refer to the first rows by the id 1. Their caller is ada. */
export const demoUsers = [
  { created: '2026-01-05T08:00:00Z', username: 'ada', name: 'Ada Lovelace' },
  { created: '2026-01-02T07:30:00Z', username: 'grace', name: 'Grace Hopper', roles: [Role.USER, Role.ADMIN] },
  { created: '2026-01-09T16:45:00Z', username: 'edsger', name: 'Edsger Dijkstra' },
  { created: '2026-01-07T11:20:00Z', username: 'barbara', name: 'Barbara Liskov' },
  { created: '2026-01-11T23:55:00Z', username: 'mallory', name: null, status: UserStatus.SUSPENDED },
];

/** `stocked` is the stock before the orders below. */
export const demoProducts = [
  {
    created: '2026-01-03T09:00:00Z',
    name: 'Espresso cup',
    description: 'Porcelain, 80 ml.',
    price: 9.95,
    stocked: 120,
  },
  {
    created: '2026-01-03T09:05:00Z',
    name: 'Coffee grinder',
    description: 'Steel burrs, turned by hand.\nForty settings, from Turkish to French press.',
    price: 64.5,
    stocked: 12,
  },
  {
    created: '2026-01-03T09:10:00Z',
    name: 'Paper filters',
    description: 'A hundred of them, unbleached.',
    price: 4.2,
    stocked: 500,
  },
  {
    created: '2026-01-08T14:00:00Z',
    name: 'Moka pot',
    description: 'Aluminium, six cups. The next delivery is on its way.',
    price: 32,
    stocked: 4,
  },
  {
    created: '2026-01-03T09:15:00Z',
    name: 'Percolator',
    description: 'No longer made; what is left is for spare parts.',
    price: 49,
    stocked: 3,
    status: ProductStatus.DISCONTINUED,
  },
  {
    created: '2026-01-15T10:30:00Z',
    name: 'Milk jug',
    description: 'Stainless steel, 350 ml, with a spout for drawing hearts.',
    price: 18.75,
    stocked: 25,
  },
  {
    created: '2026-01-12T13:10:00Z',
    name: 'Kitchen scale',
    description: 'To a tenth of a gram, up to two kilograms.\nTwo AAA batteries included.',
    price: 27.99,
    stocked: 8,
  },
  {
    created: '2026-01-06T17:40:00Z',
    name: 'Gooseneck kettle',
    description: 'Pours slowly and stays warm. 900 ml.',
    price: 79.9,
    stocked: 5,
  },
  {
    created: '2026-01-20T06:00:00Z',
    name: 'House blend, 1 kg',
    description: 'Chocolate, hazelnut, a little orange. Roasted on Tuesdays.',
    price: 21.35,
    stocked: 60,
  },
  {
    created: '2026-01-20T06:05:00Z',
    name: 'Decaf, 250 g',
    description: 'For the evening. Washed with water, not with solvents.',
    price: 7.49,
    stocked: 0,
  },
  { created: '2026-01-08T13:30:00Z', name: 'Cleaning brush', description: null, price: 3.05, stocked: 40 },
  {
    created: '2026-01-04T15:25:00Z',
    name: 'Enamel mug',
    description: 'White with a blue rim, until they ran out of blue.',
    price: 12.6,
    stocked: 1,
    status: ProductStatus.DISCONTINUED,
  },
];

interface DemoOrder {
  created: string;
  /** When the order got its status, unless it is the first one. */
  updated?: string;
  buyer: string;
  status: OrderStatus;
  /** Quantities by product. */
  items: Record<string, number>;
}

export const demoOrders: DemoOrder[] = [
  {
    created: '2026-01-31T12:00:00Z',
    buyer: 'ada',
    status: OrderStatus.PENDING,
    items: { 'Espresso cup': 2, 'Paper filters': 1 },
  },
  {
    created: '2026-01-10T18:05:00Z',
    updated: '2026-01-14T09:30:00Z',
    buyer: 'edsger',
    status: OrderStatus.DELIVERED,
    items: { 'Coffee grinder': 1 },
  },
  {
    created: '2026-01-16T07:50:00Z',
    updated: '2026-01-16T08:20:00Z',
    buyer: 'barbara',
    status: OrderStatus.CANCELLED,
    items: { 'Moka pot': 3, 'Milk jug': 1 },
  },
  {
    created: '2026-01-12T20:15:00Z',
    updated: '2026-01-17T11:00:00Z',
    buyer: 'ada',
    status: OrderStatus.DELIVERED,
    items: { 'Moka pot': 1, 'Paper filters': 3, 'Enamel mug': 1, 'Cleaning brush': 2 },
  },
  {
    created: '2026-01-22T13:40:00Z',
    updated: '2026-01-24T16:10:00Z',
    buyer: 'barbara',
    status: OrderStatus.SHIPPED,
    items: { 'Gooseneck kettle': 1, 'Kitchen scale': 1, 'House blend, 1 kg': 2 },
  },
  {
    created: '2026-01-28T09:25:00Z',
    updated: '2026-01-28T09:40:00Z',
    buyer: 'edsger',
    status: OrderStatus.PAID,
    items: { 'House blend, 1 kg': 10, 'Paper filters': 10 },
  },
  {
    created: '2026-01-19T22:30:00Z',
    updated: '2026-01-27T10:00:00Z',
    buyer: 'grace',
    status: OrderStatus.DELIVERED,
    items: { 'Espresso cup': 24, 'Milk jug': 4, 'Moka pot': 3 },
  },
  {
    created: '2026-01-12T00:10:00Z',
    updated: '2026-01-12T08:00:00Z',
    buyer: 'mallory',
    status: OrderStatus.CANCELLED,
    items: { 'Gooseneck kettle': 5, 'Coffee grinder': 12 },
  },
  {
    created: '2026-01-30T17:55:00Z',
    buyer: 'barbara',
    status: OrderStatus.PENDING,
    items: { 'Cleaning brush': 1 },
  },
];
