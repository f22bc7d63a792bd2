import createClient from 'openapi-fetch';
import type { components, paths } from './v1/schema';
import type { paths as newerPaths } from './v2/schema';

declare const process: { env: Record<string, string> };
const baseUrl = process.env['API_URL']!;
const client = createClient<paths>({ baseUrl });
const newer = createClient<newerPaths>({ baseUrl });

const signedIn = await client.POST('/api/v1/auth/tokens', { body: { username: 'ada', password: 'demo-password' } });
if (!signedIn.data) throw new Error(signedIn.error.error.message);
const headers = { Authorization: `Bearer ${signedIn.data.data.access_token}` };

const listed = await client.GET('/api/v1/products', { params: { query: { fields: ['id', 'name'], size: 2 } } });
if (!listed.data) throw new Error(listed.error.error.details);
// Nobody can know which attributes were chosen.
const names: (string | undefined)[] = listed.data.data.map(({ name }) => name);

const pages = await newer.GET('/api/v2/products', { params: { query: { size: 1 } } });
const next: string | null | undefined = pages.data?.pagination.next;

const ordered = await client.POST('/api/v1/orders', {
  params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
  body: { items: [{ product_id: 1, quantity: 1 }] },
  headers,
});
const order: components['schemas']['Order'] | undefined = ordered.data?.data;

const refused = await client.POST('/api/v1/orders', { body: { items: [] }, headers });
const error = refused.error?.error;
// The code alone tells that there are fields.
const fields: string[] = error?.code === 'VALIDATION_ERROR' ? error.fields.map(({ field }) => field) : [];

console.log(
  JSON.stringify({
    'sign in': String(signedIn.response.status),
    fields: names.every(Boolean) ? String(listed.response.status) : 'no names',
    'version 2': next ? String(pages.response.status) : 'no next page',
    order: order?.total_amount ? String(ordered.response.status) : `no order: ${ordered.error?.error.details}`,
    refusal: fields[0] === 'items' ? String(refused.response.status) : 'no fields',
  }),
);
