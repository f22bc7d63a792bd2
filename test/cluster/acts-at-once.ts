import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ADMIN, type Cluster } from './cluster';

interface Answer {
  status: number;
  body: { data?: Record<string, unknown> };
}

async function ask(
  url: string,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: object } = {},
): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

async function signIn(url: string, account: { username: string; password: string }): Promise<Tokens> {
  const { status, body } = await ask(url, 'POST', '/auth/tokens', { body: account });
  assert.equal(status, 201, 'a sign-in');
  return body.data as unknown as Tokens;
}

async function newUser(url: string): Promise<Tokens & { id: number }> {
  const account = { username: `user_${randomBytes(4).toString('hex')}`, password: 'a password of a test' };
  const body = { ...account, email: `${account.username}@example.com` };
  const { body: user } = await ask(url, 'POST', '/users', { body });
  return { id: user.data!.id as number, ...(await signIn(url, account)) };
}

/** The statuses of one request to every instance, several times, so that each of its processes is asked. */
async function everywhere({ instances }: Cluster, method: string, path: string, token: string): Promise<number[]> {
  const statuses = new Set<number>();
  for (const { url } of instances) {
    for (let time = 0; time < 6; time++) statuses.add((await ask(url, method, path, { token })).status);
  }
  return [...statuses];
}

/** A sign-out at one instance is known at all others at the next request. */
export async function revocationActsEverywhere(cluster: Cluster): Promise<void> {
  const [first, second] = cluster.instances;
  const { access_token, refresh_token } = await newUser(first.url);
  const statuses = () => everywhere(cluster, 'GET', '/users/profile', access_token);
  assert.deepEqual(await statuses(), [200]);
  assert.equal((await ask(second.url, 'DELETE', '/auth/tokens', { body: { refresh_token } })).status, 204);
  assert.deepEqual(await statuses(), [401]);
}

/** A role that one instance gives and takes holds at all others at the next request. */
export async function rolesActEverywhere(cluster: Cluster): Promise<void> {
  const [first, second, third] = cluster.instances;
  const { access_token: token } = await signIn(first.url, ADMIN);
  const { id, access_token } = await newUser(second.url);
  const setRoles = async (...roles: string[]) =>
    assert.equal((await ask(third.url, 'PATCH', `/users/${id}`, { token, body: { roles } })).status, 200);
  // Only administrators delete products; there is none with this id.
  const statuses = () => everywhere(cluster, 'DELETE', '/products/999999999', access_token);
  assert.deepEqual(await statuses(), [403]);
  await setRoles('USER', 'ADMIN');
  assert.deepEqual(await statuses(), [404]);
  await setRoles('USER');
  assert.deepEqual(await statuses(), [403]);
}

/** All instances count one caller's requests together. */
export async function limitsCountTogether({ instances }: Cluster): Promise<void> {
  const statuses: number[] = [];
  for (let time = 0; time < 66; time++) {
    const response = await fetch(`${instances[time % instances.length].url}/api/v1/public`);
    await response.text();
    statuses.push(response.status);
  }
  assert.deepEqual(
    [200, 429].map((status) => statuses.filter((one) => one === status).length),
    [60, 6],
  );
}
