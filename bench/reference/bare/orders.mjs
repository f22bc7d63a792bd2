// The transaction of an order by hand: the same locks, tables and constraints as the service, without its limit of open
// orders.
import { ask, INSERT_ITEMS, INSERT_ORDER, LOCK_PRODUCTS, TAKE_STOCK } from '../statements.mjs';

/** @returns `{ row, lines }`, or undefined if a product can't be had */
export async function placeOrder(pool, buyer, { items }) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const order = await placeIn(client, buyer, items);
    await client.query(order ? 'COMMIT' : 'ROLLBACK');
    return order;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

async function placeIn(client, buyer, items) {
  const ids = items.map(({ product_id }) => product_id);
  const quantities = items.map(({ quantity }) => quantity);
  const products = new Map((await ask(client, LOCK_PRODUCTS, [ids])).map((row) => [Number(row.id), row]));
  if (!items.every((item) => isAvailable(products.get(item.product_id), item))) return undefined;
  const lines = items.map(({ product_id, quantity }) => {
    const { name, price } = products.get(product_id);
    return { product_id, quantity, name, price };
  });
  await ask(client, TAKE_STOCK, [ids, quantities]);
  const [row] = await ask(client, INSERT_ORDER, [buyer, totalOf(lines)]);
  const [names, prices] = [lines.map(({ name }) => name), lines.map(({ price }) => price)];
  await ask(client, INSERT_ITEMS, [row.id, ids, quantities, names, prices]);
  return { row, lines };
}

function isAvailable(product, { quantity }) {
  return product !== undefined && product.status === 'ACTIVE' && Number(product.stock) >= quantity;
}

/** Prices are the text of PostgreSQL, with two decimals. */
function totalOf(lines) {
  const cents = lines.reduce((sum, { price, quantity }) => sum + BigInt(price.replace('.', '')) * BigInt(quantity), 0n);
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
