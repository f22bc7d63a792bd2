import { createOrder, listProducts, signIn } from './v1/api';
import type { Order } from './v1/models';
import { listProducts as listNewer } from './v2/api';

const signedIn = await signIn({ username: 'ada', password: 'demo-password' });
if (signedIn.status !== 201) throw new Error(signedIn.data.error.message);
const headers = { Authorization: `Bearer ${signedIn.data.data.access_token}` };

const listed = await listProducts({ fields: ['id', 'name'], size: 2 });
if (listed.status !== 200) throw new Error(listed.data.error.details);
// Nobody can know which attributes were chosen.
const names: (string | undefined)[] = listed.data.data.map(({ name }) => name);

const pages = await listNewer({ size: 1 });
const next: string | null | undefined = pages.status === 200 ? pages.data.pagination.next : undefined;

const ordered = await createOrder(
  { items: [{ product_id: 1, quantity: 1 }] },
  { 'Idempotency-Key': crypto.randomUUID() },
  { headers },
);
const order: Order | undefined = ordered.status === 201 ? ordered.data.data : undefined;

const refused = await createOrder({ items: [] }, {}, { headers });
// The status alone tells that there are fields.
const fields: string[] = refused.status === 400 ? refused.data.error.fields.map(({ field }) => field) : [];

console.log(
  JSON.stringify({
    'sign in': String(signedIn.status),
    fields: names.every(Boolean) ? String(listed.status) : 'no names',
    'version 2': next ? String(pages.status) : 'no next page',
    order: order?.total_amount ? String(ordered.status) : `no order: ${JSON.stringify(ordered.data)}`,
    refusal: fields[0] === 'items' ? String(refused.status) : 'no fields',
  }),
);
