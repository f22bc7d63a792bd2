// The statements of the servers without an ORM: the same for all of them, prepared once for each connection.
const USER = 'id, created_at, updated_at, version, username, name, image, status';
const PRODUCT = 'id, created_at, updated_at, version, name, description, price, stock, status, image';
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
export const UPDATE_PRODUCT = named(
  'update_product',
  `UPDATE products SET name = coalesce($2, name), description = coalesce($3, description),
     price = coalesce($4, price), stock = coalesce($5, stock)
   WHERE id = $1 AND deleted_at IS NULL RETURNING ${PRODUCT}`,
);

/** @returns the rows */
export async function ask(pool, statement, values) {
  return (await pool.query({ name: statement.name, text: statement.text, values })).rows;
}

/** The pattern of a `search`. `%` and `_` are ordinary characters. */
export function patternOf(search) {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}

function named(name, text) {
  return { name, text };
}
