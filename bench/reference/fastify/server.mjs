// Fastify and pg, with schemas that are compiled to validation and serialisation: no token, no log.
import fastify from 'fastify';
import { pool } from '../pool.mjs';
import { ask, changeOf, INSERT_PRODUCT, PRODUCT_BY_ID, USER_BY_ID } from '../statements.mjs';
import { changedProduct, idParameter, newProduct, product, user } from './schemas.mjs';

const app = fastify();

app.get('/api/v1/public', (_request, reply) => reply.type('text/plain').send('Hello from the public resource.'));

app.get('/api/v1/users/:id', { schema: { params: idParameter, response: { 200: user } } }, async (request, reply) =>
  found(reply, await ask(pool, USER_BY_ID, [request.params.id])),
);

app.get(
  '/api/v1/products/:id',
  { schema: { params: idParameter, response: { 200: product } } },
  async (request, reply) => found(reply, await ask(pool, PRODUCT_BY_ID, [request.params.id])),
);

app.post('/api/v1/products', { schema: { body: newProduct, response: { 201: product } } }, async (request, reply) => {
  const { name, description = null, price, stock = 0 } = request.body;
  return found(reply.code(201), await ask(pool, INSERT_PRODUCT, [name, description, price, stock]));
});

app.patch(
  '/api/v1/products/:id',
  { schema: { params: idParameter, body: changedProduct, response: { 200: product } } },
  async (request, reply) => {
    const expected = request.headers['if-match'];
    const rows = await ask(pool, ...changeOf(request.params.id, request.body, expected));
    return found(reply, rows, expected === undefined ? 404 : 412);
  },
);

await app.listen({ port: Number(process.env.PORT), host: process.env.HOST });

function found(reply, [row], otherwise = 404) {
  return row ?? reply.code(otherwise).send({});
}
