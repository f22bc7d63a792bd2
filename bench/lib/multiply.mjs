// Makes many rows of those that the seed command has made, which would take hours for ten million of them.

/** The seed command makes so many rows of a larger number, and the others are copies of them. */
const ORIGINALS = 100_000;
/** A copy has an id of its own, and a user a name that ends with it, as the seed command makes them. */
const ID = 'id + $1::bigint';
const USERNAME = `left(rtrim(username, '0123456789'), 20 - length((${ID})::text)) || (${ID})`;
const EMAIL = `${USERNAME} || substring(email FROM '@.*')`;
const COPIED = {
  users: { id: ID, username: USERNAME, username_key: USERNAME, email: EMAIL, email_key: EMAIL },
  products: { id: ID },
  product_texts: { product_id: 'product_id + $1::bigint' },
};
const COUNTED = ['users', 'products'];
/** So that an index of ten million rows is sorted in memory. */
const SORTING = "SET maintenance_work_mem = '1GB'";

/** How many rows the seed command is to make, and how many there are to be of each. */
export function originalsOf(rows) {
  return rows > ORIGINALS && rows % ORIGINALS === 0
    ? { originals: ORIGINALS, factor: rows / ORIGINALS }
    : { originals: rows, factor: 1 };
}

/**
 * Multiplies users and products. The copies leave no audit events: triggers are off, and what those of the copied tables keep is
 * written here. Indexes are made at the end.
 * @param client of a superuser
 */
export async function multiply(client, factor) {
  await client.query(SORTING);
  await client.query('SET session_replication_role = replica');
  for (const [table, changed] of Object.entries(COPIED))
    await withoutIndexes(client, table, () => copy(client, table, changed, factor));
  for (const table of COUNTED) await count(client, table);
  await client.query('RESET session_replication_role');
  for (const table of Object.keys(COPIED)) await client.query(`VACUUM (ANALYZE) ${table}`);
}

/** Copy by copy, so that rows lie in the order of their ids, as if they had come one by one. */
async function copy(client, table, changed, factor) {
  const [key] = Object.keys(changed);
  const { names, first, count } = await describe(client, table, key);
  const values = names.map((name) => changed[name] ?? name);
  for (let number = 1; number < factor; number++) {
    await client.query(
      `INSERT INTO ${table} (${names.join()}) OVERRIDING SYSTEM VALUE
       SELECT ${values.join()} FROM ${table} WHERE ${key} BETWEEN $2 AND $3 ORDER BY ${key}`,
      [number * count, first, first + count - 1],
    );
  }
  if (key === 'id')
    await client.query(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table}`);
}

async function describe(client, table, key) {
  const columns = await client.query(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  const { rows } = await client.query(`SELECT min(${key})::int AS first, count(*)::int AS count FROM ${table}`);
  return { names: columns.rows.map(({ name }) => name), ...rows[0] };
}

/** Each index is made anew by one sort, but for those of constraints. */
async function withoutIndexes(client, table, work) {
  const { rows } = await client.query(
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
      WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  await work();
  for (const { definition } of rows) await client.query(definition);
}

/** What the triggers that count rows would have counted. */
async function count(client, table) {
  await client.query('DELETE FROM row_counts WHERE table_name = $1', [table]);
  await client.query(
    `INSERT INTO row_counts (table_name, status, slot, rows)
     SELECT '${table}', status, 0, count(*) FROM ${table} WHERE deleted_at IS NULL GROUP BY status`,
  );
}
