import { Api, type HttpResponse, type Order, type ValidationError } from './v1/api';
import { Api as Newer } from './v2/api';

declare const process: { env: Record<string, string> };
const baseUrl = process.env['API_URL']!;
const client = new Api<string>({
  baseUrl,
  securityWorker: (token) => (token ? { headers: { Authorization: `Bearer ${token}` } } : {}),
});

const signedIn = await client.api.signIn({ username: 'ada', password: 'demo-password' });
client.setSecurityData(signedIn.data.data.access_token);

const listed = await client.api.listProducts({ fields: ['id', 'name'], size: 2 });
// Nobody can know which attributes were chosen.
const names: (string | undefined)[] = listed.data.data.map(({ name }) => name);

const pages = await new Newer({ baseUrl }).api.listProducts({ size: 1 });
const next: string | null = pages.data.pagination.next;

const ordered = await client.api.createOrder({ items: [{ product_id: 1, quantity: 1 }] });
const order: Order = ordered.data.data;

// It throws what is no success, without a type.
const refused = await client.api.createOrder({ items: [] }).then(
  () => undefined,
  (thrown: HttpResponse<unknown, ValidationError>) => thrown,
);
const fields: string[] = refused?.error.error.fields.map(({ field }) => field) ?? [];

console.log(
  JSON.stringify({
    'sign in': String(signedIn.status),
    fields: names.every(Boolean) ? String(listed.status) : 'no names',
    'version 2': next ? String(pages.status) : 'no next page',
    order: order.total_amount ? String(ordered.status) : 'no order',
    refusal: fields[0] === 'items' ? String(refused?.status) : 'no fields',
  }),
);
