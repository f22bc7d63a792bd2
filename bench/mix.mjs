// What `npm run load` sends: 80 % reads. The weights are those of scripts/load. Cancelled orders and deleted posts are
// left out: a list of requests can't know what the service has answered.
import { UNIQUE } from './lib/markers.mjs';

const POSTS_OF_A_CALLER = 5;
const READS = 0.8;

const kinds = {
  reads: [
    [20, () => get('/products?sort=price&size=20')],
    [15, ({ data, random }) => get(`/products/${productOf(data, random)}`)],
    [10, () => get('/orders?sort=created_at&order=desc')],
    [15, () => get('/users/profile')],
    [40, (context) => get(`/posts/${postOf(context)}`)],
    [20, ({ data, caller }) => get(`/posts?userId=${data.callers[caller].id}&sort=id&order=desc&include=user`)],
    [10, (context) => get(`/comments?postId=${postOf(context)}`)],
  ],
  writes: [
    [18, order],
    [55, () => send('POST', '/posts', { title: 'A post of a load', content: UNIQUE })],
    [30, change],
    [20, (context) => send('POST', `/posts/${postOf(context)}/comments`, { content: UNIQUE })],
  ],
};

export const MIX = {
  name: 'mix',
  title: 'The mix of `npm run load`, 80 % reads',
  only: ['product'],
  steady: true,
  writes: ['orders', 'posts', 'products', 'idempotency_keys'],
  prepare: (client) => client.posts(POSTS_OF_A_CALLER),
  request(context) {
    const { random, place, data } = context;
    const all = random() < READS ? kinds.reads : kinds.writes;
    let rest = random() * all.reduce((sum, [weight]) => sum + weight, 0);
    const [, requestOf] = all.find(([weight]) => (rest -= weight) < 0);
    return { as: 'user', ...requestOf({ ...context, caller: place % data.callers.length }) };
  },
};

function order({ data, random }) {
  return send('POST', '/orders', { items: [{ product_id: productOf(data, random), quantity: 1 }] });
}

/**
 * Changes a post of the caller, with the version that it has by then. The posts take turns, so that no two changes of one are
 * under way at once.
 */
function change({ prepared, caller, place, data }) {
  const id = prepared[caller][Math.floor(place / data.callers.length) % POSTS_OF_A_CALLER];
  const path = `/api/v1/posts/${id}`;
  return { method: 'PATCH', path, body: { content: UNIQUE }, expects: { table: 'posts', id } };
}

function postOf({ prepared, caller, random }) {
  return prepared[caller][Math.floor(random() * POSTS_OF_A_CALLER)];
}

function productOf({ products: { first, count } }, random) {
  return first + Math.floor(random() * count);
}

function get(path) {
  return { method: 'GET', path: `/api/v1${path}` };
}

function send(method, path, body) {
  return { method, path: `/api/v1${path}`, body, headers: { 'Idempotency-Key': UNIQUE } };
}
