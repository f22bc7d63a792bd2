// The measured works. A work is a list of requests, the same for all servers, with different ids, pages, terms, bodies,
// callers and addresses.
import { URLSearchParams } from 'node:url';
import { UNIQUE, uniqueMarker } from './lib/markers.mjs';
import { MIX } from './mix.mjs';

const USERS = '/api/v1/users';
const PRODUCTS = '/api/v1/products';
const ORDERS = '/api/v1/orders';
const PAGE_SIZE = 20;
/** The pages that people look at. */
const FIRST_PAGES = 1_000;

/** The products that PATCH cycles through: no two requests for one of them are under way at once. */
const PATCHED = 2_500;
const PRIME = 1_009;
const PRICES = [8.5, 9.95, 12, 14.25];

/** So that a product can be ordered afterwards. */
const MUCH_STOCK = 1_000_000;

/** The lines of an order. */
const LINES = 3;
const MAX_QUANTITY = 3;

/** Seconds. Some servers take most of a second for a page. */
const LONG_TURN = 3;

/** PostgreSQL does most of the work here: L0, Fastify and Express would hardly differ. */
const LISTING = ['product', 'bare', 'nest'];
/** Those that compare versions. */
const COMPARING = ['product', 'bare', 'fastify', 'express'];

const DIFFERENT = [
  {
    name: 'user',
    title: 'GET /users/{id}, with token',
    variants: ['metrics'],
    steady: true,
    shared: 'user-same',
    request: readUser,
  },
  {
    name: 'user-long',
    title: 'GET /users/{id}, with token, after a minute of it',
    only: ['product'],
    variants: ['traces'],
    warmUp: 60,
    request: readUser,
  },
  {
    name: 'product',
    title: 'GET /products/{id}, public',
    steady: true,
    shared: 'product-same',
    request: ({ data, random }) => get(`${PRODUCTS}/${oneOf(data.products, random)}`),
  },
  {
    name: 'product-token',
    title: 'GET /products/{id}, with token',
    request: ({ data, random }) => get(`${PRODUCTS}/${oneOf(data.products, random)}`, 'user'),
  },
  {
    name: 'public',
    title: 'GET /public',
    steady: true,
    request: () => get('/api/v1/public'),
  },
  {
    name: 'pages',
    title: 'GET /users, a page of 20 with total, of the first 1,000',
    only: LISTING,
    turn: LONG_TURN,
    large: true,
    steady: true,
    shared: 'page',
    request: ({ data, random }) => get(pageOfUsers(random() * Math.min(FIRST_PAGES, pagesOf(data))), 'user'),
  },
  {
    name: 'deep-pages',
    title: 'GET /users, a page of all',
    only: LISTING,
    turn: LONG_TURN,
    shared: 'deep',
    request: ({ data, random }) => get(pageOfUsers(random() * pagesOf(data)), 'user'),
  },
  {
    name: 'search',
    title: 'GET /users, status + search',
    only: LISTING,
    turn: LONG_TURN,
    large: true,
    shared: 'search-same',
    request: (context) => search(context),
  },
  {
    name: 'search-one',
    title: 'GET /users, status + search for a username',
    only: LISTING,
    turn: LONG_TURN,
    large: true,
    request: searchForOne,
  },
  {
    name: 'search-unindexed',
    title: 'GET /users, status + search, L0 without the index',
    only: ['product', 'bare'],
    turn: 4 * LONG_TURN,
    request: (context) => search(context, context.server === 'bare' ? { index: 'no' } : {}),
  },
  {
    name: 'create',
    title: 'POST /products',
    writes: ['products'],
    variants: ['unaudited'],
    large: true,
    steady: true,
    request: ({ place }) => send('POST', PRODUCTS, newProduct(place)),
  },
  {
    name: 'create-keyed',
    title: 'POST /products, with an Idempotency-Key, of which L0 takes no notice',
    only: ['product', 'bare'],
    writes: ['products', 'idempotency_keys'],
    request: ({ place }) => ({ ...send('POST', PRODUCTS, newProduct(place)), headers: { 'Idempotency-Key': UNIQUE } }),
  },
  {
    name: 'patch',
    title: 'PATCH /products/{id}',
    writes: ['products'],
    variants: ['unaudited'],
    steady: true,
    request: (context) => patch(context),
  },
  {
    name: 'patch-expected',
    title: 'PATCH /products/{id}, with If-Match',
    only: COMPARING,
    writes: ['products'],
    request: (context) => ({ ...patch(context), expects: { table: 'products', id: patchedId(context) } }),
  },
  {
    name: 'order',
    title: 'POST /orders of three lines',
    only: ['product', 'bare'],
    writes: ['orders', 'products'],
    request: order,
  },
  {
    name: 'cursor',
    title: 'GET /v2/users, first page, the same for all',
    only: ['product'],
    prepare: (client) => client.hasCursors(),
    request: () => get(`/api/v2/users?size=${PAGE_SIZE}`, 'user'),
  },
  {
    name: 'cursors',
    title: 'GET /v2/users, a page of all by cursor',
    only: ['product'],
    large: true,
    shared: 'cursor-deep',
    prepare: (client, data) => client.cursors(data.users.count),
    request: (context) => pageByCursor(context, 1),
  },
  {
    name: 'cursors-first',
    title: 'GET /v2/users, a page of the first tenth by cursor',
    only: ['product'],
    prepare: (client, data) => client.cursors(data.users.count),
    request: (context) => pageByCursor(context, 0.1),
  },
  MIX,
];

/** Far into the table, where one page, one row or one term stands for all. */
const SAME = 0.8;

/**
 * A work has:
 * - `name`, for the command line, and `title`
 * - `request({ data, random, place, server, prepared })`: one request of many. `data` says what there is in the database,
 *   `random` gives numbers from 0 to 1, the same ones for each server, `place` counts, and `prepared` is what `prepare`
 *   came to
 * - `only`: the servers that take part; all of them unless given
 * - `turn`: the least seconds of one server's turn, because a server takes long for each request; 1 unless given
 * - `warmUp`: the least seconds of the warm-up; none unless given
 * - `variants`: the service is measured with these, too
 * - `large`: takes part in the comparison with a large database
 * - `steady`: is measured at fixed rates, too
 * - `shared`: the name of the same work where all callers ask for the same, which shows what sharing statements brings
 * - `writes`: the tables that are put back in order afterwards
 * - `prepare(client, data)`: asks the service for something beforehand; undefined when it hasn't got it
 */
export const WORKS = DIFFERENT.flatMap((work) => (work.shared ? [work, sharedOf(work)] : [work]));

function sharedOf({ name, title, only, turn, prepare, shared, request }) {
  const first = name === 'pages' ? 0 : SAME;
  return {
    name: shared,
    title: `${title}; all ask for the same`,
    only,
    turn,
    prepare,
    request: (context) => request({ ...context, random: () => first }),
  };
}

function readUser({ data, random }) {
  return get(`${USERS}/${oneOf(data.users, random)}`, 'user');
}

function pageOfUsers(page) {
  return `${USERS}?page=${Math.floor(page)}&size=${PAGE_SIZE}`;
}

/** @param share how much of the table, from its beginning */
function pageByCursor({ prepared, random }, share) {
  const cursor = prepared[Math.floor(random() * share * prepared.length)];
  return get(`/api/v2/users?size=${PAGE_SIZE}&cursor=${cursor}`, 'user');
}

/** Without the last ones, which have the callers themselves. */
function pagesOf({ users, callers, admins }) {
  return Math.floor((users.count - 2 * (callers.length + admins.length)) / PAGE_SIZE);
}

function search({ data, random }, more) {
  return searchFor(data.searchTerms[Math.floor(random() * data.searchTerms.length)], more);
}

function searchForOne({ data, random }) {
  return searchFor(data.usernames[Math.floor(random() * data.usernames.length)]);
}

function searchFor(term, more = {}) {
  return get(`${USERS}?${new URLSearchParams({ status: 'ACTIVE', search: term, ...more }).toString()}`, 'user');
}

function newProduct(place) {
  return {
    name: `Handmade oak bench, number ${UNIQUE}`,
    description: 'Seats three. Oiled twice, and once more every spring.',
    price: PRICES[place % PRICES.length],
    stock: place % 100,
  };
}

/** Ids spread over the table, each equally often. */
function patchedId({ data, place }) {
  const { first, count } = data.products;
  const turn = ((place % PATCHED) * PRIME) % PATCHED;
  return first + ((turn * Math.ceil(count / PATCHED)) % count);
}

/** Each price is another one, so that each request changes something, and the row's version with it. */
function patch(context) {
  const change = `{"price":1${uniqueMarker(8)}.5,"stock":${MUCH_STOCK + (context.place % 100)}}`;
  return send('PATCH', `${PRODUCTS}/${patchedId(context)}`, change);
}

/** L0 knows no tokens, so it is told who buys. */
function order({ data, random, place, server }) {
  const ids = new Set();
  while (ids.size < LINES) ids.add(oneOf(data.products, random));
  const items = [...ids].map((product_id) => ({ product_id, quantity: 1 + Math.floor(random() * MAX_QUANTITY) }));
  const path = server === 'bare' ? `${ORDERS}?buyer=${data.callers[place % data.callers.length].id}` : ORDERS;
  return { ...send('POST', path, { items }), as: 'user' };
}

function oneOf({ first, count }, random) {
  return first + Math.floor(random() * count);
}

function get(path, as) {
  return { method: 'GET', path, as };
}

function send(method, path, body) {
  return { method, path, as: 'admin', body };
}
