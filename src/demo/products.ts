import type { EntityManager } from 'typeorm';
import { OrderStatus } from '../resources/orders/order.entity';
import { Product, ProductStatus } from '../resources/products/product.entity';
import { demoOrders } from './orders';
import { add, dates } from './rows';

/** `stocked` is the stock before any order. */
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

export async function addProducts(manager: EntityManager): Promise<void> {
  const products = demoProducts.map(({ created, stocked, ...product }) => {
    return { ...product, ...dates(created), stock: stocked - quantitySold(product.name) };
  });
  await add(manager, Product, products);
}

/** Cancelled orders have returned what they took. */
function quantitySold(product: string): number {
  return demoOrders
    .filter(({ status }) => status !== OrderStatus.CANCELLED)
    .reduce((sum, { items }) => sum + (items[product] ?? 0), 0);
}
