import { OrderStatus } from '../../resources/orders/order.entity';
import { ProductStatus } from '../../resources/products/product.entity';
import type { Random } from './random';
import { capitalised, makeDescription } from './texts';
import { someUser } from './users';
import { colour, material, quality, thingAndPrice } from './words';
import { countAt, DAY_MS, latest, money, originOf, type Seed, type World } from './world';

const MAX_LINES = 8;
const MAX_QUANTITY = 10;
const MAX_STOCK = 500;
/** The last digits of prices, in cents. */
const ENDINGS = [99, 95, 90, 50, 25, 0];

/** Only orders of the last weeks are still in progress. */
const RECENT_SINCE = 0.95;
const RECENT = { PENDING: 30, PAID: 30, SHIPPED: 25, DELIVERED: 10, CANCELLED: 5 };
const OLD = { DELIVERED: 92, CANCELLED: 8 };
const STEPS: Record<OrderStatus, number> = { PENDING: 0, PAID: 1, CANCELLED: 1, SHIPPED: 2, DELIVERED: 3 };

export const products: Seed = {
  noun: 'products',
  usually: 'a tenth of the users unless given',
  count: ({ users }) => users / 10,
  tables: { products: makeProduct },
  byTriggers: ['product_texts'],
};

export const orders: Seed = {
  noun: 'orders',
  usually: 'half of the users',
  count: ({ users, products }) => (products > 0 ? users / 2 : 0),
  needs: ['users', 'products'],
  tables: { orders: makeOrder, order_items: makeOrderItems },
};

function makeProduct(world: World, place: number) {
  const { random, created_at, name, cents } = beginProduct(world, place);
  return {
    id: world.ids.products[place],
    created_at,
    updated_at: created_at,
    name,
    description: random.chance(0.9) ? makeDescription(random) : null,
    price: money(cents),
    // Most products have a few items, few have many, and some have none.
    stock: random.chance(0.95) ? 1 + Math.floor(MAX_STOCK * random.next() ** 3) : 0,
    status: random.chance(0.93) ? ProductStatus.ACTIVE : ProductStatus.DISCONTINUED,
  };
}

function makeOrder(world: World, place: number) {
  const { random, time, created_at, user_id, lines } = beginOrder(world, place);
  const status = random.weighted<OrderStatus>(time < RECENT_SINCE ? OLD : RECENT);
  const moved = new Date(created_at.getTime() + Math.round(STEPS[status] * random.next() * 2 * DAY_MS));
  return {
    id: world.ids.orders[place],
    created_at,
    updated_at: moved < world.now ? moved : world.now,
    version: 1 + STEPS[status],
    user_id,
    status,
    total_amount: money(lines.reduce((sum, { cents, quantity }) => sum + cents * quantity, 0)),
  };
}

function makeOrderItems(world: World, place: number) {
  return beginOrder(world, place).lines.map(({ product, quantity, name, cents }, position) => ({
    order_id: world.ids.orders[place],
    position,
    product_id: world.ids.products[product],
    quantity,
    name,
    unit_price: money(cents),
  }));
}

function beginProduct(world: World, place: number) {
  const { random, created_at } = originOf(world, 'products', place);
  const [thing, price] = thingAndPrice(random);
  const name = `${capitalised(quality(random))} ${material(random)} ${thing}, ${colour(random)}`;
  return { random, created_at, name, cents: someCents(random, price) };
}

/** A price between half and double, with a usual ending. */
function someCents(random: Random, price: number): number {
  return Math.round(price * 4 ** (random.next() - 0.5)) * 100 + random.pick(ENDINGS);
}

function beginOrder(world: World, place: number) {
  const { random, time, created_at } = originOf(world, 'orders', place);
  const buyer = someUser(world, random, time);
  const lines = someLines(world, random, time);
  return { random, time, created_at: latest(created_at, buyer.created_at), user_id: buyer.id, lines };
}

/** Different products that existed at the time, older ones more often. */
function someLines(world: World, random: Random, time: number) {
  const products = countAt(world, 'products', time);
  const chosen = new Set<number>();
  const size = Math.min(1 + random.repeats(0.6, MAX_LINES - 1), products);
  while (chosen.size < size) {
    let product = Math.floor(products * random.next() ** 2);
    while (chosen.has(product)) product = (product + 1) % products;
    chosen.add(product);
  }
  return [...chosen].map((product) => {
    const { name, cents } = beginProduct(world, product);
    return { product, name, cents, quantity: 1 + random.repeats(0.3, MAX_QUANTITY - 1) };
  });
}
