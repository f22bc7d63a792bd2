import { ADMIN, type Cluster } from './cluster';

const COUNT = 5;
const STOCK = 100_000;

/** Something to order. */
export async function makeProducts({ url }: Cluster): Promise<void> {
  const send = async (path: string, body: object, token?: string) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`POST ${path} was answered ${response.status}`);
    return ((await response.json()) as { data: { access_token: string } }).data;
  };
  const { access_token } = await send('/auth/tokens', ADMIN);
  for (let number = 1; number <= COUNT; number++) {
    await send('/products', { name: `Product ${number}`, price: number, stock: STOCK }, access_token);
  }
}
