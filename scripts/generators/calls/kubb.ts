import { setConfig } from '@kubb/plugin-client/clients/fetch';
import { createOrder, listProducts, type Order, signIn, type ValidationError } from './v1';
import { listProducts as listNewer } from './v2';

// Its client sends JSON without saying so.
setConfig({ headers: { 'Content-Type': 'application/json' } });
const signedIn = await signIn({ username: 'ada', password: 'demo-password' });
const headers = { Authorization: `Bearer ${signedIn.data.access_token}` };

const listed = await listProducts({ fields: ['id', 'name'], size: 2 });
// Nobody can know which attributes were chosen.
const names: (string | undefined)[] = listed.data.map(({ name }) => name);

const pages = await listNewer({ size: 1 });
const next: string | null = pages.pagination.next;

const ordered = await createOrder(
  { items: [{ product_id: 1, quantity: 1 }] },
  { 'Idempotency-Key': crypto.randomUUID() },
  { headers },
);
const order: Order = ordered.data;

// Its client returns whatever came.
const refused = (await createOrder({ items: [] }, {}, { headers })) as unknown as ValidationError;
const fields: string[] = refused.error.fields.map(({ field }) => field);

console.log(
  JSON.stringify({
    'sign in': String(signedIn.code),
    fields: names.every(Boolean) ? String(listed.code) : 'no names',
    'version 2': next ? String(pages.code) : 'no next page',
    order: order.total_amount ? String(ordered.code) : 'no order',
    refusal: fields[0] === 'items' ? '400' : 'no fields',
  }),
);
