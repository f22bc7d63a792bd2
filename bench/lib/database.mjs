// Creates a database for each number of rows, filled by the project's seed command.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { programsOf } from '../servers.mjs';

const SEARCH_INDEXES = ['users_username_search', 'users_email_search', 'users_name_search'];
const SEARCH_TERMS = 2_000;
/**
 * So many that none gets more open orders than the usual limit of 100, and that callers seldom wait for each other: their keys and
 * open orders are counted for each write.
 */
export const CALLERS = 250;
const ADMIT = "UPDATE users SET roles = ARRAY['USER', 'ADMIN'] WHERE id = ANY($1::bigint[])";
const KEYS = 'idempotency_keys';
/**
 * PostgreSQL plans the statements of an empty table to read it from end to end, and keeps the plan for each connection until
 * the table is analysed. A service in use has orders and keys.
 */
const ORDERS = 20_000;
const MADE_KEYS = 20_000;
/** Fingerprint of the keys that no request has sent. */
const MADE = "'\\x00'::bytea";
/** What is at rest between two statements of a server isn't over yet. */
const IDLE_POLLS = 3;
const IDLE_POLL_MS = 20;
const IDLE_LIMIT_MS = 60_000;

const ACTIVE = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`;

/** Creates a database with rows, migrated and analysed, by the seed command of `folder`. @returns its URL */
export async function createDatabase(serverUrl, name, { users, products, password, directory, folder }) {
  await onServer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await seed(url.href, { users, products, password, directory, folder });
  return url.href;
}

/** Inserts keys that no request has sent. */
export async function makeKeys(client) {
  await client.query(
    `INSERT INTO ${KEYS} (id, fingerprint, caller)
     SELECT sha256(number::text::bytea), ${MADE}, sha256((number % 1000)::text::bytea)
       FROM generate_series(1, $1::integer) AS number`,
    [MADE_KEYS],
  );
  await client.query(`VACUUM (ANALYZE) ${KEYS}`);
}

/** Drops a database, even if clients are connected. */
export async function dropDatabase(serverUrl, name) {
  await onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** @returns a client for the harness */
export async function connect(url) {
  const client = new pg.Client({ connectionString: url, application_name: 'bench' });
  // The failing statement reports it. Without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Copies the users, for an L0 whose search has no index. */
export async function copyUsersWithoutSearchIndex(client) {
  const table = 'bench.users_without_search_index';
  await client.query('CREATE SCHEMA bench');
  await client.query(`CREATE TABLE ${table} (LIKE users INCLUDING ALL)`);
  const { rows } = await client.query(
    `SELECT indexrelid::regclass AS index FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       JOIN pg_am ON pg_am.oid = relam WHERE indrelid = $1::regclass AND amname = 'gin'`,
    [table],
  );
  if (rows.length !== SEARCH_INDEXES.length) throw new Error('The indexes for search are not what they were');
  for (const { index } of rows) await client.query(`DROP INDEX ${index}`);
  await client.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM users ORDER BY id`);
  await client.query(`VACUUM (ANALYZE) ${table}`);
}

/** What the works need to know about the rows. */
export async function describeData(client) {
  const users = await idsOf(client, 'users');
  return {
    users,
    products: await idsOf(client, 'products'),
    searchTerms: await surnames(client),
    usernames: await usernames(client, users),
    ...(await someUsers(client)),
  };
}

/** Waits until PostgreSQL has finished the work after a load, and a server what it had received. */
export async function becomeIdle(client, server) {
  let idle = 0;
  for (const end = performance.now() + IDLE_LIMIT_MS; performance.now() < end; await sleep(IDLE_POLL_MS)) {
    const { rows } = await client.query(ACTIVE);
    idle = rows[0].count === 0 && server.isAsleep ? idle + 1 : 0;
    if (idle === IDLE_POLLS) return;
  }
  throw new Error('PostgreSQL does not come to rest');
}

/** Everything can be ordered, as often as a run may order it. */
export async function stockUp(client) {
  await client.query("UPDATE products SET stock = 1000000000, status = 'ACTIVE'");
  await client.query('VACUUM (ANALYZE) products');
}

/** What restoreTables() needs to know. @returns the greatest id of each table; null for one without rows */
export async function markTables(client, tables) {
  const marks = {};
  for (const table of tables.filter((name) => name !== KEYS)) {
    const { rows } = await client.query(`SELECT max(id)::text AS last FROM ${table}`);
    marks[table] = rows[0].last;
  }
  return marks;
}

/** Deletes the rows of POST and the dead rows of PATCH, so that each server finds the same tables. */
export async function restoreTables(client, tables, marks) {
  for (const table of tables) {
    if (table === KEYS) await client.query(`DELETE FROM ${table} WHERE fingerprint <> ${MADE}`);
    else await client.query(`DELETE FROM ${table} WHERE id > coalesce($1::bigint, 0)`, [marks[table]]);
  }
  for (const table of [...tables, ...(tables.includes('orders') ? ['order_items'] : [])])
    await client.query(`VACUUM (ANALYZE) ${table}`);
}

/** The versions of rows, by their ids. */
export async function versionsOf(client, table, ids) {
  const statement = `SELECT id::int, version FROM ${table} WHERE id = ANY($1::bigint[])`;
  const { rows } = await client.query(statement, [ids]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}

async function idsOf(client, table) {
  const { rows } = await client.query(
    `SELECT min(id)::int AS first, count(*)::int AS count, max(id)::int AS last FROM ${table}`,
  );
  const { first, count, last } = rows[0];
  if (last - first + 1 !== count) throw new Error(`The ids of ${table} have gaps`);
  return { first, count };
}

/** Each surname occurs in some hundredths of a per cent of the names, and in some usernames. The list has most of them. */
async function surnames(client) {
  const { rows } = await client.query(
    `SELECT surname FROM (SELECT DISTINCT split_part(name, ' ', 2) AS surname FROM users) AS every
       WHERE surname ~ '^[A-Za-z]{5,}$' ORDER BY md5(surname) LIMIT $1`,
    [SEARCH_TERMS],
  );
  return rows.map(({ surname }) => surname);
}

/** Each occurs once, or in few rows. From all parts of the table, but for its last users, who are callers. */
async function usernames(client, { first, count }) {
  const ids = Array.from(
    { length: SEARCH_TERMS },
    (_, place) => first + Math.floor((0.99 * count * place) / SEARCH_TERMS),
  );
  const { rows } = await client.query('SELECT username FROM users WHERE id = ANY($1::bigint[]) ORDER BY id', [ids]);
  return rows.map(({ username }) => username);
}

/**
 * Makes administrators: those who write are as many as those who read. The last users: the measured pages don't contain
 * the caller itself, whose private attributes would be shown.
 */
async function someUsers(client) {
  const statement = "SELECT id::int, username FROM users WHERE status = 'ACTIVE' ORDER BY id DESC LIMIT $1";
  const { rows } = await client.query(statement, [2 * CALLERS]);
  const [callers, admins] = [rows.slice(0, CALLERS), rows.slice(CALLERS)];
  await client.query(ADMIT, [admins.map(({ id }) => id)]);
  return { callers, admins };
}

async function seed(url, { users, products, password, directory, folder }) {
  const counts = ['--users', users, '--products', products, '--orders', ORDERS, '--posts', 0];
  const rest = ['--comments', 0, '--replies', 0, '--password', password];
  const child = spawn(process.execPath, [programsOf(folder).seed, ...[...counts, ...rest].map(String)], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: 'test', DATABASE_URL: url, DATA_DIR: directory },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('Filling the database failed');
}

async function onServer(url, statement) {
  const client = await connect(url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
