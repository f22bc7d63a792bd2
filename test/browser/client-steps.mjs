// The typed client on a page of another origin than the service's, in two tabs, through a gateway that breaks connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

const { Gateway } = createRequire(import.meta.url)('../support/gateway.ts');

const SCRIPT = `
  export * from './client/src/index.ts';
  export { upload } from './client/src/uploads.ts';
`;
const TABS = 2;
const FILE_BYTES = 3_000_000;

/** Each step goes on from the one before it. `tabs` are pages that share an origin, and have the client as \`shop\`. */
export const clientSteps = {
  async 'loads the client, and signs in from another origin'({ tabs: [tab] }) {
    await tab.evaluate(() => window.client.session.signIn({ username: 'grace', password: 'demo-password' }));
    const { data } = await tab.evaluate(() => window.client.GET('/users/profile'));
    assert.equal(data.username, 'grace');
  },

  async 'is signed in in another tab, and exchanges tokens once for requests of both'({ tabs, gateway }) {
    gateway.next();
    await tabs[0].evaluate(() => {
      const tokens = JSON.parse(window.localStorage.getItem('shop'));
      window.localStorage.setItem('shop', JSON.stringify({ ...tokens, accessExpiresAt: 0 }));
    });
    const read = () => Promise.all([1, 2, 3].map(() => window.client.GET('/users/profile')));
    const answers = (await Promise.all(tabs.map((tab) => tab.evaluate(read)))).flat();
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200],
    );
    assert.equal(gateway.asked.filter((one) => one === 'PUT /auth/tokens').length, 1);
  },

  async 'lists all products through broken connections'({ tabs: [tab], gateway }) {
    gateway.next('before', 'after', undefined, 'midway');
    const ids = await tab.evaluate(async () => {
      const found = [];
      for await (const { id } of window.client.products.all({ size: 3 })) found.push(id);
      return found;
    });
    assert.ok(ids.length > 6, String(ids));
    assert.equal(new Set(ids).size, ids.length);
  },

  async 'orders exactly once, before and after a broken connection'({ tabs: [tab], gateway }) {
    const count = () => tab.evaluate(async () => (await Array.fromAsync(window.client.orders.all())).length);
    const before = await count();
    const faults = ['before', 'after', 'midway', 'after'];
    gateway.next();
    gateway.faultOf = ({ method }) => (method === 'POST' ? faults.shift() : undefined);
    const order = await tab.evaluate(() => window.client.orders.create({ items: [{ product_id: 1, quantity: 1 }] }));
    assert.equal(order.status, 'PENDING');
    assert.equal(faults.length, 0);
    gateway.next();
    assert.equal(await count(), before + 1);
  },

  async 'changes with PATCH, which CORS does not allow by default'({ tabs: [tab] }) {
    const stock = (more) => window.client.products.change(1, ({ stock }) => ({ stock: stock + more }));
    const { stock: first } = await tab.evaluate(stock, 1);
    const { stock: second } = await tab.evaluate(stock, 1);
    assert.equal(second, first + 1);
  },

  async 'uploads with progress, through a broken connection'({ tabs: [tab], gateway }) {
    const faults = ['before', 'before'];
    gateway.next();
    gateway.faultOf = ({ method, headers }) =>
      method === 'POST' && 'x-http-method-override' in headers ? faults.shift() : undefined;
    const { uploaded, shown } = await tab.evaluate(async (size) => {
      const seen = [];
      const file = new window.File([new Uint8Array(size).fill(65)], 'letters.txt', { type: 'text/plain' });
      const done = await window.shop.upload(window.client, file, {
        chunkSize: 1_000_000,
        onProgress: (sent) => seen.push(sent),
      });
      return { uploaded: done, shown: seen };
    }, FILE_BYTES);
    assert.equal(uploaded.size, FILE_BYTES);
    assert.equal(uploaded.filename, 'letters.txt');
    assert.equal(shown.at(-1), FILE_BYTES);
    assert.equal(faults.length, 0);
  },

  async 'signs out in both tabs'({ tabs }) {
    await tabs[0].evaluate(() => window.client.session.signOut());
    assert.equal(await tabs[1].evaluate(() => window.client.session.isSignedIn()), false);
  },
};

/** Serves the page with the client. The service has to allow its origin. */
export async function servePage() {
  const options = { bundle: true, format: 'iife', globalName: 'shop', platform: 'browser', write: false };
  const stdin = { contents: SCRIPT, resolveDir: '.', loader: 'ts' };
  const { outputFiles } = await build({ ...options, stdin });
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? outputFiles[0].text : '<!doctype html><script src="/client.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/** Opens two tabs of the page, with a client each. */
export async function openTabs(browser, service, origin) {
  const gateway = new Gateway(() => service);
  await gateway.start();
  const context = await browser.newContext();
  const tabs = [];
  for (let tab = 0; tab < TABS; tab++) {
    const page = await context.newPage();
    await page.goto(origin);
    await page.evaluate((url) => {
      const { createClient, webStore } = window.shop;
      window.client = createClient({ url, store: webStore('shop'), retry: { firstDelay: 10 } });
    }, gateway.url);
    tabs.push(page);
  }
  const stop = async () => {
    await context.close();
    gateway.stop();
  };
  return { tabs, gateway, stop };
}
