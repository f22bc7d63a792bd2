// npm run test:browser: in headless Chromium, registers, signs in and reads the profile through Swagger UI, by clicking, and
// uses the typed client on a page of another origin.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { clientSteps, openTabs, servePage } from './client-steps.mjs';
import { startService } from './service.mjs';
import { uploadPicture, widthsOf } from './shown-picture.mjs';
import { execute, openDocs, withBody } from './swagger-page.mjs';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const PATIENCE = 15_000;

const alan = {
  username: 'alan',
  email: 'alan@example.com',
  password: 'correct horse battery staple',
  name: 'Alan Turing',
};

/** Each step goes on from the one before it. */
const steps = {
  async 'shows every operation of the document'({ page, url }) {
    const { paths, webhooks } = await (await fetch(`${url}/docs/json`)).json();
    const documented = Object.values({ ...paths, ...webhooks }).flatMap((path) => Object.keys(path)).length;
    assert.equal(await page.locator('.opblock').count(), documented);
  },

  async 'registers a user with the example as it stands'({ page }) {
    const { status, body } = await execute(page, 'Users-createUser');
    assert.equal(status, 201);
    assert.equal(body.data.username, alan.username);
    return 'Users-createUser';
  },

  async 'signs in, and is authorised by that'({ page }) {
    const { username, password } = alan;
    const { status, body } = await execute(page, 'Tokens-signIn', withBody({ username, password }));
    assert.equal(status, 201);
    assert.equal(body.data.token_type, 'Bearer');
    await page.locator('.auth-wrapper .authorize.locked').waitFor();
  },

  async 'reads the profile of the user who signed in'({ page }) {
    const { status, body } = await execute(page, 'Users-getUserProfile');
    assert.equal(status, 200);
    const { username, email, name } = body.data;
    assert.deepEqual({ username, email, name }, { username: alan.username, email: alan.email, name: alan.name });
    return 'Users-getUserProfile';
  },

  async 'lists users with a search and a choice of attributes'({ page }) {
    const { status, body } = await execute(page, 'Users-listUsers', async (block) => {
      await block.getByPlaceholder('search').fill('turing');
      await block.locator('tr[data-param-name="fields"] select').selectOption(['id', 'username']);
    });
    assert.equal(status, 200);
    assert.deepEqual(body.data.map(Object.keys), [['id', 'username']]);
    assert.equal(body.data[0].username, alan.username);
    return 'Users-listUsers';
  },

  async 'lists orders without a filter, and with bounds of an amount'({ page }) {
    const all = await execute(page, 'Orders-listOrders');
    assert.equal(all.status, 200);
    assert.ok(!all.url.includes('%5B') && !all.url.includes('['), all.url);
    const url = await filtered(page, 'total_amount', { gte: 10, lt: 20 });
    assert.deepEqual(Object.fromEntries(new URL(url).searchParams), {
      ...Object.fromEntries(new URL(all.url).searchParams),
      'total_amount[gte]': '10',
      'total_amount[lt]': '20',
    });
    return 'Orders-listOrders';
  },

  async 'changes the user with a PATCH'({ page }) {
    const { status, body } = await execute(page, 'Users-updateUser', async (block) => {
      await block.getByPlaceholder('id').fill(String(await idOf(page)));
      await withBody({ name: 'A. M. Turing' })(block);
    });
    assert.equal(status, 200);
    assert.equal(body.data.name, 'A. M. Turing');
  },

  async 'shows a picture by its link on a page of another origin, and not without'({ page, browser, url }) {
    const { content, link } = await uploadPicture(url, (await tokensOf(page)).access_token);
    assert.deepEqual(await widthsOf(browser, [link, content]), [1, 0]);
  },

  async 'did all this without an error, a violated policy or a request to elsewhere'({ complaints }) {
    assert.deepEqual(complaints, []);
  },

  async 'signs out'({ page, url }) {
    const { access_token, refresh_token } = await tokensOf(page);
    const { status } = await execute(page, 'Tokens-signOut', withBody({ refresh_token }));
    assert.equal(status, 204);
    const headers = { Authorization: `Bearer ${access_token}` };
    assert.equal((await fetch(`${url}/api/v1/users/profile`, { headers })).status, 401);
  },
};

async function tokensOf(page) {
  const answer = page.locator('#operations-Tokens-signIn .live-responses-table .highlight-code code').first();
  return JSON.parse(await answer.innerText()).data;
}

async function idOf(page) {
  const answer = page.locator('#operations-Users-getUserProfile .live-responses-table .highlight-code code').first();
  return JSON.parse(await answer.innerText()).data.id;
}

/** Executes an open operation once more, with an object of the style `deepObject`. @returns the URL of the request */
async function filtered(page, name, value) {
  const block = page.locator('#operations-Orders-listOrders');
  await block.locator(`tr[data-param-name="${name}"] textarea`).fill(JSON.stringify(value));
  const answer = page.waitForResponse((response) => response.url().includes('/orders?'));
  await block.getByRole('button', { name: 'Execute' }).click();
  const response = await answer;
  assert.equal(response.status(), 200);
  return response.url();
}

/** Steps through Swagger UI, with pictures. */
async function ofSwagger(browser, url) {
  const screenshots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'resource-api-screenshots-'));
  mkdirSync(screenshots, { recursive: true });
  console.log(`Screenshots are in ${screenshots}`);
  const { page, complaints } = await openDocs(browser, url);
  page.setDefaultTimeout(PATIENCE);
  const picture = (name, of = page) => of.screenshot({ path: join(screenshots, `${name}.png`) });
  await page.screenshot({ path: join(screenshots, 'docs.png'), fullPage: true });
  return perform(steps, { browser, page, complaints, url }, (shown) =>
    shown === undefined ? picture('failed') : picture(shown, page.locator(`#operations-${shown}`)),
  );
}

/** Steps with the typed client, in two tabs. */
async function ofClient(browser, url, origin) {
  const { stop, ...context } = await openTabs(browser, url, origin);
  try {
    return await perform(clientSteps, context);
  } finally {
    await stop();
  }
}

async function run() {
  const shop = await servePage();
  const service = await startService({ DEMO_DATA: 'true', CORS_ORIGINS: shop.origin });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET }).catch(() => undefined);
  const stop = async () => {
    await browser?.close();
    await service.stop();
    shop.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().finally(() => process.exit(1)));
  try {
    if (!browser) throw new Error(`There is no Chromium at ${CHROMIUM}; CHROMIUM_PATH says where it is`);
    return (await ofSwagger(browser, service.url)) + (await ofClient(browser, service.url, shop.origin));
  } finally {
    await stop();
  }
}

/**
 * Runs the steps until one fails.
 * @param see gets what a step returns, and nothing after a failure
 */
async function perform(all, context, see = () => undefined) {
  let passed = 0;
  for (const [name, step] of Object.entries(all)) {
    try {
      const shown = await step(context);
      if (shown) await see(shown);
      console.log(`✓ ${name}`);
      passed++;
    } catch (error) {
      console.error(`✗ ${name}\n${error.message}`);
      await see();
      break;
    }
  }
  return passed;
}

const total = Object.keys(steps).length + Object.keys(clientSteps).length;
const passed = await run().catch((error) => {
  console.error(error.message);
  return 0;
});
// A step that was not reached failed as well.
console.log(`${passed} passed, ${total - passed} failed`);
process.exitCode = passed === total ? 0 : 1;
