// L0, the limit: node:http and pg, and only what the answer needs. No router, no validation, no token, no log.
import { createServer } from 'node:http';
import { URLSearchParams } from 'node:url';
import pg from 'pg';
import { orderJson, productJson, userJson } from './json.mjs';
import { placeOrder } from './orders.mjs';
import {
  ask,
  changeOf,
  FOUND_TOTAL,
  FOUND_TOTAL_UNINDEXED,
  FOUND_USERS,
  FOUND_USERS_UNINDEXED,
  INSERT_PRODUCT,
  patternOf,
  PRODUCT_BY_ID,
  USER_BY_ID,
  USERS,
  USERS_TOTAL,
} from '../statements.mjs';

const USER_PATH = '/api/v1/users/';
const PRODUCT_PATH = '/api/v1/products/';
const ORDERS_OF = '/api/v1/orders?buyer=';

// All values stay the text that PostgreSQL sends; json.mjs makes JSON of it.
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  options: '-c TimeZone=UTC',
  types: { getTypeParser: () => String },
});

createServer((request, response) => {
  answer(request, response).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    send(response, 500, '{}');
  });
}).listen(Number(process.env.PORT), process.env.HOST);

async function answer(request, response) {
  const { method, url } = request;
  if (method === 'GET') {
    if (url.startsWith(USER_PATH)) return sendRow(response, USER_BY_ID, [url.slice(USER_PATH.length)], userJson);
    if (url.startsWith(PRODUCT_PATH))
      return sendRow(response, PRODUCT_BY_ID, [url.slice(PRODUCT_PATH.length)], productJson);
    if (url.startsWith('/api/v1/users?')) return sendUsers(response, new URLSearchParams(url.slice(url.indexOf('?'))));
    if (url === '/api/v1/public') return send(response, 200, 'Hello from the public resource.', 'text/plain');
  }
  if (method === 'POST' && url === '/api/v1/products') {
    const { name, description = null, price, stock = 0 } = await readJson(request);
    return sendRow(response, INSERT_PRODUCT, [name, description, price, stock], productJson, 201);
  }
  if (method === 'POST' && url.startsWith(ORDERS_OF)) {
    const order = await placeOrder(pool, url.slice(ORDERS_OF.length), await readJson(request));
    return order ? send(response, 201, orderJson(order)) : send(response, 409, '{}');
  }
  if (method === 'PATCH' && url.startsWith(PRODUCT_PATH)) {
    const expected = request.headers['if-match'];
    const [statement, values] = changeOf(url.slice(PRODUCT_PATH.length), await readJson(request), expected);
    return sendRow(response, statement, values, productJson, 200, expected === undefined ? 404 : 412);
  }
  send(response, 404, '{}');
}

async function sendRow(response, statement, values, toJson, status = 200, otherwise = 404) {
  const [row] = await ask(pool, statement, values);
  if (row) send(response, status, toJson(row));
  else send(response, otherwise, '{}');
}

async function sendUsers(response, query) {
  const size = Number(query.get('size') ?? 20);
  const place = [size, size * Number(query.get('page') ?? 0)];
  const [rows, [{ total }]] = await Promise.all(query.has('search') ? find(query, place) : list(place));
  send(response, 200, `{"data":[${rows.map(userJson).join()}],"total":${total}}`);
}

function list(place) {
  return [ask(pool, USERS, place), ask(pool, USERS_TOTAL, [])];
}

function find(query, place) {
  const indexed = query.get('index') !== 'no';
  const condition = [query.get('status'), patternOf(query.get('search'))];
  return [
    ask(pool, indexed ? FOUND_USERS : FOUND_USERS_UNINDEXED, [...condition, ...place]),
    ask(pool, indexed ? FOUND_TOTAL : FOUND_TOTAL_UNINDEXED, condition),
  ];
}

function readJson(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks))));
    request.on('error', reject);
  });
}

function send(response, status, body, type = 'application/json') {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
