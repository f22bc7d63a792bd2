// The measured works. A work is a list of requests, the same for all servers, with different ids, callers and
// addresses.
import { URLSearchParams } from 'node:url';

const USERS = '/api/v1/users';
const PRODUCTS = '/api/v1/products';
const PAGE_SIZE = 20;
const DEEP_PAGE = 4_000;
/** The pages that people look at. */
const FIRST_PAGES = 100;

/**
 * The products that PATCH cycles through, and the prices that it sets in turn, so that each request changes something.
 */
const PATCHED = 2_500;
const PRIME = 1_009;
const PRICES = [8.5, 9.95, 12, 14.25];

/** PostgreSQL does most of the work here: L0, Fastify and Express would hardly differ. */
const LISTING = ['product', 'bare', 'nest'];

/**
 * A work has:
 * - `name`, for the command line, and `title`
 * - `request({ data, random, place, server, product })`: one request of many. `data` says what there is in the database,
 *   `random` gives numbers from 0 to 1, the same ones for each server, `place` counts, and `product.prepared` is what
 *   `prepare` came to
 * - `only`: the servers that take part; all of them unless given
 * - `patience`: how many times as long it is measured, because a server takes long for each request
 * - `variants`: the service is measured with these, too
 * - `million`: takes part in the comparison with a million rows
 * - `writes`: the table of products is put back in order afterwards
 * - `prepare(client)`: asks the product for something beforehand; undefined when the product hasn't got it
 */
export const WORKS = [
  {
    name: 'user',
    title: 'GET /users/{id}, with token',
    variants: ['metrics', 'traces'],
    request: ({ data, random }) => get(`${USERS}/${oneOf(data.users, random)}`, 'user'),
  },
  {
    name: 'product',
    title: 'GET /products/{id}, public',
    request: ({ data, random }) => get(`${PRODUCTS}/${oneOf(data.products, random)}`),
  },
  {
    name: 'public',
    title: 'GET /public',
    request: () => get('/api/v1/public'),
  },
  {
    name: 'page',
    title: 'GET /users, the same page of 20 with total',
    only: LISTING,
    million: true,
    request: () => get(pageOfUsers(0), 'user'),
  },
  {
    name: 'pages',
    title: 'GET /users, different pages of 20 with total',
    only: LISTING,
    request: ({ random }) => get(pageOfUsers(Math.floor(random() * FIRST_PAGES)), 'user'),
  },
  {
    name: 'deep',
    title: 'GET /users, page 4,000',
    only: LISTING,
    request: ({ data }) => get(pageOfUsers(deepPage(data)), 'user'),
  },
  {
    name: 'deep-pages',
    title: 'GET /users, different pages around 4,000',
    only: LISTING,
    request: ({ data, random }) => get(pageOfUsers(Math.floor((0.75 + random() / 4) * deepPage(data))), 'user'),
  },
  {
    name: 'search',
    title: 'GET /users, status + search',
    only: LISTING,
    request: (context) => search(context),
  },
  {
    name: 'search-unindexed',
    title: 'GET /users, status + search, L0 without the index',
    only: ['product', 'bare'],
    patience: 3,
    request: (context) => search(context, context.server === 'bare' ? { index: 'no' } : {}),
  },
  {
    name: 'create',
    title: 'POST /products',
    writes: true,
    variants: ['unaudited'],
    request: ({ place }) => send('POST', PRODUCTS, newProduct(place)),
  },
  {
    name: 'patch',
    title: 'PATCH /products/{id}',
    writes: true,
    variants: ['unaudited'],
    request: ({ data, place }) => send('PATCH', `${PRODUCTS}/${patchedId(data, place)}`, newPriceAndStock(place)),
  },
  {
    name: 'cursor',
    title: 'GET /v2/users, first page',
    only: ['product'],
    prepare: (client) => client.cursorAfter(0),
    request: () => get(`/api/v2/users?size=${PAGE_SIZE}`, 'user'),
  },
  {
    name: 'cursor-deep',
    title: 'GET /v2/users, page 4,000 by cursor',
    only: ['product'],
    prepare: (client, data) => client.cursorAfter(deepPage(data)),
    request: ({ prepared }) => get(`/api/v2/users?size=${PAGE_SIZE}&cursor=${encodeURIComponent(prepared)}`, 'user'),
  },
];

const pageOfUsers = (page) => `${USERS}?page=${page}&size=${PAGE_SIZE}`;

/** Page 4,000, or the last pages of a smaller table. */
function deepPage({ users }) {
  return Math.min(DEEP_PAGE, Math.floor((0.8 * users.count) / PAGE_SIZE));
}

function search({ data, random }, more = {}) {
  const term = data.searchTerms[Math.floor(random() * data.searchTerms.length)];
  return get(`${USERS}?${new URLSearchParams({ status: 'ACTIVE', search: term, ...more }).toString()}`, 'user');
}

function newProduct(place) {
  return {
    name: `Handmade oak bench, number ${place}`,
    description: 'Seats three. Oiled twice, and once more every spring.',
    price: PRICES[place % PRICES.length],
    stock: place % 100,
  };
}

/** Ids spread over the table, each equally often. */
function patchedId({ products: { first, count } }, place) {
  const turn = ((place % PATCHED) * PRIME) % PATCHED;
  return first + ((turn * Math.ceil(count / PATCHED)) % count);
}

function newPriceAndStock(place) {
  return { price: PRICES[Math.floor(place / PATCHED) % PRICES.length], stock: place % 100 };
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
