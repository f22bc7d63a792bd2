// The statements of the servers without an ORM: the same for all of them, prepared once for each connection.
const USER = 'id, created_at, updated_at, version, username, name, image, status';
const PRODUCT = 'id, created_at, updated_at, version, name, description, price, stock, status, image';
const CHANGE = `UPDATE products SET name = coalesce($2, name), description = coalesce($3, description),
     price = coalesce($4, price), stock = coalesce($5, stock) WHERE id = $1 AND deleted_at IS NULL`;
const FOUND = 'deleted_at IS NULL AND status = $1 AND (username ILIKE $2 OR name ILIKE $2)';

/** A copy of users without the indexes for `search`; see bench/lib/database.mjs. */
const UNINDEXED = 'bench.users_without_search_index';

export const USER_BY_ID = named('user', `SELECT ${USER} FROM users WHERE id = $1 AND deleted_at IS NULL`);

/** Parameters: limit, offset. */
export const USERS = named(
  'users',
  `SELECT ${USER} FROM users WHERE deleted_at IS NULL ORDER BY id LIMIT $1 OFFSET $2`,
);
export const USERS_TOTAL = named('users_total', 'SELECT count(*) AS total FROM users WHERE deleted_at IS NULL');

/** Parameters: status, pattern, limit, offset. */
export const FOUND_USERS = named('found', `SELECT ${USER} FROM users WHERE ${FOUND} ORDER BY id LIMIT $3 OFFSET $4`);
/** Parameters: status, pattern. */
export const FOUND_TOTAL = named('found_total', `SELECT count(*) AS total FROM users WHERE ${FOUND}`);

export const FOUND_USERS_UNINDEXED = named(
  'found_unindexed',
  `SELECT ${USER} FROM ${UNINDEXED} WHERE ${FOUND} ORDER BY id LIMIT $3 OFFSET $4`,
);
export const FOUND_TOTAL_UNINDEXED = named(
  'found_unindexed_total',
  `SELECT count(*) AS total FROM ${UNINDEXED} WHERE ${FOUND}`,
);

export const PRODUCT_BY_ID = named('product', `SELECT ${PRODUCT} FROM products WHERE id = $1 AND deleted_at IS NULL`);

/** Parameters: name, description, price, stock. */
export const INSERT_PRODUCT = named(
  'insert_product',
  `INSERT INTO products (name, description, price, stock) VALUES ($1, $2, $3, $4) RETURNING ${PRODUCT}`,
);

/** Parameters: id, name, description, price, stock. Null keeps a column. */
export const UPDATE_PRODUCT = named('update_product', `${CHANGE} RETURNING ${PRODUCT}`);

/** Parameters: those, and the expected version. */
export const UPDATE_EXPECTED_PRODUCT = named(
  'update_expected_product',
  `${CHANGE} AND version = $6 RETURNING ${PRODUCT}`,
);

/** The rows of an order stay locked until its transaction ends. In the order of ids, so that no two wait for each other. */
export const LOCK_PRODUCTS = named(
  'lock_products',
  `SELECT id, name, price, stock, status FROM products WHERE id = ANY($1) AND deleted_at IS NULL
   ORDER BY id FOR NO KEY UPDATE`,
);

/** Parameters: ids of products, quantities. */
export const TAKE_STOCK = named(
  'take_stock',
  `UPDATE products SET stock = stock - quantity FROM unnest($1::bigint[], $2::integer[]) AS line (product_id, quantity)
   WHERE id = product_id`,
);

/** Parameters: buyer, total. */
export const INSERT_ORDER = named(
  'insert_order',
  `INSERT INTO orders (user_id, total_amount, expires_at) VALUES ($1, $2, now() + interval '1 day')
   RETURNING id, created_at, updated_at, version, user_id, status, total_amount`,
);

/** Parameters: order, ids of products, quantities, names, prices. */
export const INSERT_ITEMS = named(
  'insert_items',
  `INSERT INTO order_items (order_id, position, product_id, quantity, name, unit_price)
   SELECT $1, place - 1, product_id, quantity, name, price
   FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::numeric[])
     WITH ORDINALITY AS line (product_id, quantity, name, price, place)`,
);

/** @returns the rows */
export async function ask(pool, statement, values) {
  return (await pool.query({ name: statement.name, text: statement.text, values })).rows;
}

/**
 * The UPDATE for a request, with its values.
 * @param expected the request's `If-Match`
 */
export function changeOf(id, { name, description, price, stock }, expected) {
  const values = [id, name, description, price, stock];
  if (expected === undefined) return [UPDATE_PRODUCT, values];
  return [UPDATE_EXPECTED_PRODUCT, [...values, expected.slice(1, -1)]];
}

/** The pattern of a `search`. `%` and `_` are ordinary characters. */
export function patternOf(search) {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}

function named(name, text) {
  return { name, text };
}
