// A page of another origin that shows a picture of the service.
import { createServer } from 'node:http';
import { once } from 'node:events';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const TUS = { 'Tus-Resumable': '1.0.0' };

/** Uploads a picture of one pixel. Returns the URLs of its content and of a link to it. */
export async function uploadPicture(url, token) {
  const api = `${url}/api/v1/uploads`;
  const authorised = { Authorization: `Bearer ${token}` };
  const headers = { ...TUS, ...authorised, 'Upload-Length': String(PNG.length) };
  const type = { 'Content-Type': 'application/offset+octet-stream' };
  const created = await fetch(api, { method: 'POST', headers: { ...headers, ...type }, body: PNG });
  const { key } = (await created.json()).data;
  const json = { ...authorised, 'Content-Type': 'application/json' };
  const answer = await fetch(`${api}/${key}/links`, { method: 'POST', headers: json, body: '{}' });
  return { content: `${api}/${key}/content`, link: url + (await answer.json()).data.url };
}

/** The widths in pixels of images on a page of another origin; 0 of those that the browser doesn't show. */
export async function widthsOf(browser, sources) {
  const images = sources.map((source) => `<img src="${source}">`).join('');
  const server = createServer((_request, response) =>
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${images}`),
  );
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const page = await browser.newPage();
  try {
    await page.goto(`http://localhost:${server.address().port}/`);
    return await page.locator('img').evaluateAll((all) => all.map(({ naturalWidth }) => naturalWidth));
  } finally {
    await page.close();
    server.closeAllConnections();
    server.close();
  }
}
