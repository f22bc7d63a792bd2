// @ts-check
// node tour.mjs URL FILE: signs in, lists products, orders one, and uploads a file.
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createClient } from 'resource-api-client';
import { upload } from 'resource-api-client/uploads';

const [url = 'http://localhost:3000', file = process.argv[1]] = process.argv.slice(2);
const client = createClient({ url });
await client.session.signIn({ username: 'ada', password: 'demo-password' });

const shelf = [];
for await (const { id, name, price } of client.products.all({ status: 'ACTIVE' })) {
  console.log(`${id} ${name}: ${price}`);
  shelf.push(id);
}

const order = await client.orders.create({ items: [{ product_id: shelf[0], quantity: 1 }] });
console.log(`Order ${order.id}: ${order.total_amount}`);

/** @param {number} sent @param {number} total */
const bar = (sent, total) => process.stdout.write(`\r[${'#'.repeat((sent / total) * 20).padEnd(20)}]`);
const { key, size } = await upload(client, createReadStream(file), { filename: basename(file), onProgress: bar });
console.log(`\nUpload ${key}: ${size} bytes`);
await client.session.signOut();
