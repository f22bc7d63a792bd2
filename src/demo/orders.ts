import type { EntityManager } from 'typeorm';
import { Order, OrderItem, OrderStatus } from '../resources/orders/order.entity';
import { Product } from '../resources/products/product.entity';
import { User } from '../resources/users/user.entity';
import { add, dates, rowsBy } from './rows';

const CENTS = 100;

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

export async function addOrders(manager: EntityManager): Promise<void> {
  const users = await rowsBy(manager, User, 'username');
  const products = await rowsBy(manager, Product, 'name');
  for (const { created, updated, buyer, status, items } of demoOrders) {
    const lines = Object.entries(items).map(([product, quantity], position) => {
      const { id: product_id, name, price: unit_price } = products.get(product)!;
      return { position, product_id, quantity, name, unit_price };
    });
    const cents = lines.reduce((sum, { unit_price, quantity }) => sum + Math.round(unit_price * CENTS) * quantity, 0);
    const order = { ...dates(created, updated), user_id: users.get(buyer)!.id, status, total_amount: cents / CENTS };
    const [{ id: order_id }] = await add(manager, Order, [order]);
    const rows = lines.map((line) => ({ ...line, order_id }));
    await add(manager, OrderItem, rows);
  }
}
