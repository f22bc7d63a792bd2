import { createOrder, listProducts, type Order, signIn } from './v1';
import { client } from './v1/client.gen';
import { listProducts as listNewer } from './v2';
import { client as newer } from './v2/client.gen';

declare const process: { env: Record<string, string> };
const baseUrl = process.env['API_URL']!;
client.setConfig({ baseUrl });
newer.setConfig({ baseUrl });

// Each request and each answer is validated by zod.
const signedIn = await signIn({ body: { username: 'ada', password: 'demo-password' } });
if (!signedIn.data) throw new Error(signedIn.error.error.message);
const auth = signedIn.data.data.access_token;

const listed = await listProducts({ query: { fields: ['id', 'name'], size: 2 } });
if (!listed.data) throw new Error(JSON.stringify(listed.error));
// Nobody can know which attributes were chosen.
const names: (string | undefined)[] = listed.data.data.map(({ name }) => name);

const pages = await listNewer({ query: { size: 1 } });
const next: string | null | undefined = pages.data?.pagination.next;

const ordered = await createOrder({
  auth,
  headers: { 'Idempotency-Key': crypto.randomUUID() },
  body: { items: [{ product_id: 1, quantity: 1 }] },
});
const order: Order | undefined = ordered.data?.data;

// A second sale to the same key is refused by the service, not by zod.
const refused = await createOrder({ auth, body: { items: [{ product_id: 9_007_199_254_740_991, quantity: 1 }] } });
const error = refused.error?.error;
// The code alone tells that there are fields.
const fields: string[] = error?.code === 'VALIDATION_ERROR' ? error.fields.map(({ field }) => field) : [];

console.log(
  JSON.stringify({
    'sign in': String(signedIn.response.status),
    fields: names.every(Boolean) ? String(listed.response.status) : 'no names',
    'version 2': next ? String(pages.response.status) : 'no next page',
    order: order?.total_amount ? String(ordered.response.status) : `no order: ${JSON.stringify(ordered.error)}`,
    refusal: fields[0]?.startsWith('items') ? String(refused.response.status) : 'no fields',
  }),
);
