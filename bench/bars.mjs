// The requirements of the product. A ratio compares requests per second with L0 on the same work in one round, unless
// stated otherwise. For start-up and memory less is better.
const product = (work) => ({ server: 'product', work });

export const BARS = [
  ratio('GET /users/{id}, with token', 'user', { atLeast: 0.55, aim: 0.75 }),
  { ...ratio('the same, to Fastify + pg', 'user', { aim: 1 }), to: { server: 'fastify', work: 'user' } },
  { ...ratio('the same, to Nest as usual', 'user', { atLeast: 1 }), to: { server: 'nest', work: 'user' } },
  variant('the same with metrics, to itself without', 'metrics', 0.97),
  variant('the same with traces of one of a hundred, to itself without', 'traces', 0.95),
  ratio('GET /products/{id}, public', 'product', { atLeast: 0.6, aim: 0.8 }),
  // Clients that request the same page at once share a statement; others don't.
  ratio('GET /users, the same page of 20 with total', 'page', { atLeast: 10, aim: 12 }),
  {
    ...ratio('the same on 1,000,000 rows, to itself on 100,000', 'page', { atLeast: 0.9 }),
    of: { server: 'million', work: 'page' },
    to: product('page'),
  },
  ratio('GET /users, different pages of 20 with total', 'pages', { atLeast: 8, aim: 12 }),
  ratio('GET /users, page 4,000', 'deep', { atLeast: 3 }),
  ratio('GET /users, different pages around 4,000', 'deep-pages', { atLeast: 3, aim: 5 }),
  {
    ...ratio('GET /v2/users, page 4,000 by cursor, to its first page', 'cursor-deep', { aim: 0.9 }),
    to: product('cursor'),
  },
  ratio('GET /users, status + search, to L0 without the index', 'search-unindexed', { atLeast: 4 }),
  ratio('the same, to L0 with the index', 'search', { aim: 1 }),
  ratio('POST /products', 'create', { atLeast: 0.5, aim: 0.7 }),
  ratio('PATCH /products/{id}', 'patch', { atLeast: 0.5, aim: 0.7 }),
  ratio('GET /public', 'public', { atLeast: 0.35, aim: 0.6 }),
  { title: 'Start-up to the first 200, seconds', figure: 'startUp', atMost: 1.5, aim: 0.8 },
  { title: 'Resident memory after load, MB', figure: 'memory', atMost: 200, aim: 150 },
];

/** What switching something on costs. */
function variant(title, server, atLeast) {
  return { title, of: { server, work: 'user' }, to: product('user'), atLeast };
}

function ratio(title, work, limits) {
  return { title, of: product(work), to: { server: 'bare', work }, ...limits };
}
