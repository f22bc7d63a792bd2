// Swagger UI as its reader uses it: everything by clicking and typing.

/** Swagger UI looks for a field of its own for each format of a list's items, and takes an ordinary one if there is none. */
const HARMLESS = /^Could not find component: JsonSchema_integer_int64$/;

/** Opens /docs, and keeps a list of whatever should not happen there. */
export async function openDocs(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints = [];
  const complain = (text) => HARMLESS.test(text) || complaints.push(text);
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()));
  page.on('pageerror', (error) => complain(error.message));
  page.on('requestfailed', (request) => complain(`failed: ${request.url()}`));
  page.on(
    'request',
    (request) => /^(data|blob):/.test(request.url()) || isBelow(url, request) || complain(`left: ${request.url()}`),
  );
  await page.exposeFunction('complain', complain);
  await page.addInitScript(() => {
    window.addEventListener('securitypolicyviolation', (event) =>
      window.complain(`policy: ${event.violatedDirective}`),
    );
  });
  await page.goto(`${url}/docs`);
  await page.locator('.opblock').first().waitFor();
  return { page, complaints };
}

function isBelow(url, request) {
  return new URL(request.url()).origin === url;
}

/**
 * Opens an operation, fills it in and executes it.
 * @param operation its group and its id, e.g. `Users-createUser`
 * @param fill types and chooses; gets the operation's block
 */
export async function execute(page, operation, fill = () => undefined) {
  const block = page.locator(`#operations-${operation}`);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Try it out' }).click();
  await fill(block);
  await block.getByRole('button', { name: 'Execute' }).click();
  const answer = block.locator('.live-responses-table .response');
  await answer.waitFor();
  const status = Number((await answer.locator('.response-col_status').innerText()).split(/\s/)[0]);
  const url = await block.locator('.request-url pre').innerText();
  if (status === 204) return { status };
  const body = await answer.locator('.response-col_description code').first().innerText();
  return { status, url, body: JSON.parse(body) };
}

/** Types a request body over the example. */
export const withBody = (body) => (block) => block.locator('textarea.body-param__text').fill(JSON.stringify(body));
