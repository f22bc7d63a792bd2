// The requirements of the product. A ratio compares requests per second with L0 on the same work in one round, unless
// stated otherwise. `figure` names another one to compare, such as CPU, or one of the service itself. A limit is a
// number, or depends on the major version of the Node that serves.
import { RATES } from './lib/rates.mjs';

const product = (work) => ({ server: 'product', work });

/** What a large database may cost. */
const LARGE = {
  pages: 'GET /users, a page',
  cursors: 'GET /v2/users by cursor',
  search: 'search for a surname, which a hundred times as many have',
  'search-one': 'search for a username',
  create: 'POST',
};

export const BARS = [
  ratio('GET /users/{id}, with token', 'user', { atLeast: { 24: 0.85, 20: 0.75 }, aim: 1 }),
  { ...ratio('the same, to Fastify + pg', 'user', { aim: 1 }), to: { server: 'fastify', work: 'user' } },
  { ...ratio('the same, to Nest as usual', 'user', { atLeast: 1 }), to: { server: 'nest', work: 'user' } },
  variant('the same with metrics, to itself without', 'user', 'metrics', 0.97),
  variant('the same with traces of one of a hundred, to itself without, after a minute', 'user-long', 'traces', 0.95),
  ratio('GET /products/{id}, public', 'product', { atLeast: { 24: 0.95, 20: 0.8 }, aim: 1 }),
  ratio('the same, with token', 'product-token', { aim: 1 }),
  ratio('GET /public', 'public', { atLeast: { 24: 0.6, 20: 0.5 }, aim: 0.75 }),
  ...write('POST /products', 'create', { 24: 0.9, 20: 0.8 }),
  ratio('the same with an Idempotency-Key, of which L0 takes no notice', 'create-keyed', { atLeast: 0.5, aim: 0.7 }),
  ...write('PATCH /products/{id}', 'patch', { 24: 0.95, 20: 0.85 }),
  ...write('PATCH /products/{id}, with If-Match', 'patch-expected', { 24: 0.95, 20: 0.85 }),
  ratio('POST /orders of three lines', 'order', { atLeast: 0.8, aim: 1 }),
  ratio('GET /users, a page of 20 with total, of the first 1,000', 'pages', { atLeast: 15, aim: 25 }),
  ratio('GET /users, a page of all', 'deep-pages', { atLeast: 10, aim: 20 }),
  {
    ...ratio('GET /v2/users, a page of all by cursor, to one of the first tenth', 'cursors', { atLeast: 0.9, aim: 1 }),
    to: product('cursors-first'),
  },
  ratio('GET /users, status + search, to L0 with the index', 'search', { atLeast: 1, aim: 1.3 }),
  ratio('the same, to L0 without the index', 'search-unindexed', { atLeast: 4 }),
  ...Object.entries(LARGE).map(([work, title]) => ({
    title: `${title}: the large database to the other`,
    of: { server: 'large', work },
    to: product(work),
    atLeast: 0.85,
    aim: 0.95,
  })),
  cpu('GET /users/{id}', 'user', 1.3, 1.1),
  cpu('GET /products/{id}', 'product', 1.3, 1.1),
  cpu('GET /public', 'public', 2, 1.5),
  cpu('POST /products', 'create', 2, 1.4),
  cpu('PATCH /products/{id}', 'patch', 2, 1.4),
  cpu('GET /users, a page of the first 1,000', 'pages', 2, 1.4),
  { title: 'Start-up to the first 200, seconds', figure: 'startUp', atMost: 0.9, aim: 0.6 },
  { title: 'Resident memory after load, MB', figure: 'memory', atMost: 160, aim: 130 },
];

/** The bar on a Node: `{ bound, aim, isMet(limit, value) }`. */
export function limitsOf({ atLeast, atMost, aim }, major) {
  const isMet = atMost === undefined ? (limit, value) => value >= limit : (limit, value) => value <= limit;
  return { bound: onNode(atLeast ?? atMost, major), aim, isMet };
}

/** Without a limit for this version, that of the newest. */
function onNode(limit, major) {
  if (typeof limit !== 'object') return limit;
  return limit[major] ?? limit[Math.max(...Object.keys(limit).map(Number))];
}

/** Fastify by hand is what the service wants to be ahead of. */
function write(title, work, atLeast) {
  return [
    ratio(title, work, { atLeast }),
    { ...ratio('the same, to Fastify + pg', work, { aim: 1 }), to: { server: 'fastify', work } },
  ];
}

/** The server's own CPU for 1,000 requests, each server at half of its own maximum. */
function cpu(title, work, atMost, aim) {
  const steady = RATES[0].keyOf(work);
  const of = product(steady);
  return {
    title: `CPU of the server: ${title}`,
    of,
    to: { server: 'bare', work: steady },
    figure: 'serverCpu',
    atMost,
    aim,
  };
}

/** What switching something on costs. */
function variant(title, work, server, atLeast) {
  return { title, of: { server, work }, to: product(work), atLeast };
}

function ratio(title, work, limits) {
  return { title, of: product(work), to: { server: 'bare', work }, ...limits };
}
