// Express 5 and pg without a framework: no validation, no token, no log.
import express from 'express';
import { pool } from '../pool.mjs';
import { ask, INSERT_PRODUCT, PRODUCT_BY_ID, UPDATE_PRODUCT, USER_BY_ID } from '../statements.mjs';

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
  const { name, description, price, stock } = request.body;
  sendRow(response, await ask(pool, UPDATE_PRODUCT, [request.params.id, name, description, price, stock]));
});

app.listen(Number(process.env.PORT), process.env.HOST);

function sendRow(response, [row]) {
  if (row) response.json(row);
  else response.status(404).json({});
}
