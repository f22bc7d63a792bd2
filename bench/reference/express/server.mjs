// Express 5 and pg without a framework: no validation, no token, no log.
import express from 'express';
import { pool } from '../pool.mjs';
import { ask, changeOf, INSERT_PRODUCT, PRODUCT_BY_ID, USER_BY_ID } from '../statements.mjs';

const app = express();
app.use(express.json());

app.get('/api/v1/public', (_request, response) => response.type('text').send('Hello from the public resource.'));

app.get('/api/v1/users/:id', async (request, response) =>
  sendRow(response, await ask(pool, USER_BY_ID, [request.params.id])),
);

app.get('/api/v1/products/:id', async (request, response) =>
  sendRow(response, await ask(pool, PRODUCT_BY_ID, [request.params.id])),
);

app.post('/api/v1/products', async (request, response) => {
  const { name, description = null, price, stock = 0 } = request.body;
  sendRow(response.status(201), await ask(pool, INSERT_PRODUCT, [name, description, price, stock]));
});

app.patch('/api/v1/products/:id', async (request, response) => {
  const change = changeOf(request.params.id, request.body, request.headers['if-match']);
  sendRow(response, await ask(pool, ...change), request.headers['if-match'] === undefined ? 404 : 412);
});

app.listen(Number(process.env.PORT), process.env.HOST);

function sendRow(response, [row], otherwise = 404) {
  if (row) response.json(row);
  else response.status(otherwise).json({});
}
