// A load with a bit of everything that the metrics count.
import { setTimeout as sleep } from 'node:timers/promises';

const demo = { username: 'ada', password: 'demo-password' };
const administrator = { username: 'grace', password: 'demo-password' };
const PAUSE_MS = 20;
const VISITORS = 4;
const UPLOAD_BYTES = 200_000;

/** The caller of an instance. Answers are not looked at: the metrics are. */
class Caller {
  constructor(url) {
    this.url = url;
  }

  async signIn(account) {
    const answer = await this.send('POST', '/auth/tokens', account);
    const { data } = await answer.json();
    this.token = data?.access_token ?? this.token;
  }

  async send(method, path, body, headers = {}) {
    return fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(this.token && { Authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      body: body instanceof Uint8Array ? body : body && JSON.stringify(body),
    });
  }

  async ask(...asked) {
    await (await this.send(...asked)).arrayBuffer();
  }
}

/** What goes wrong, in turn: each is counted by a metric of its own. */
const mishaps = [
  (caller) => caller.ask('PATCH', '/products/1', { price: 5 }, { 'If-Match': '"999999"' }),
  (caller) => caller.ask('POST', '/auth/tokens', { ...demo, password: 'wrong' }),
  (caller) => caller.ask('GET', '/public'),
  (caller) => caller.ask('POST', '/products', { name: 'Nothing' }),
  (caller) => caller.ask('PUT', '/nowhere/5'),
  (caller, place) => caller.ask('POST', '/users', { ...demo, email: `ada${place}@example.com` }),
  (caller) => caller.ask('POST', '/products', { name: 'A cup', price: 3 }, { 'Idempotency-Key': 'of the load' }),
];

async function upload(caller) {
  const bytes = Buffer.alloc(UPLOAD_BYTES);
  const tus = { 'Tus-Resumable': '1.0.0' };
  const created = await caller.send('POST', '/uploads', undefined, { ...tus, 'Upload-Length': String(UPLOAD_BYTES) });
  await created.arrayBuffer();
  const location = created.headers.get('location') ?? '';
  const path = new URL(location, caller.url).pathname.replace('/api/v1', '');
  const type = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
  await caller.ask('PATCH', path, bytes, { ...tus, ...type });
  await caller.ask('GET', `${path}/content`);
}

async function visit(url, until) {
  const caller = new Caller(url);
  await caller.signIn(administrator);
  for (let place = 0; Date.now() < until; place++) {
    await caller.ask('GET', `/users/${1 + (place % 2)}`);
    await caller.ask('GET', '/products?size=20&search=a');
    await caller.ask('GET', '/posts?include=user,comments');
    await mishaps[place % mishaps.length](caller, place);
    if (place % 10 === 0) await upload(caller);
    await sleep(PAUSE_MS);
  }
}

/** @param seconds how long */
export async function load(urls, seconds) {
  const until = Date.now() + seconds * 1_000;
  await Promise.all(urls.flatMap((url) => Array.from({ length: VISITORS }, () => visit(url, until))));
}
