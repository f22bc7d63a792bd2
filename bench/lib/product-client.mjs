import { PROXY_HEADERS } from './server-process.mjs';

const PAGE_SIZE = 20;

/** Requests of the harness to the product, outside of measurements. */
export class ProductClient {
  constructor(url) {
    this.url = url;
  }

  /** @returns the tokens of `{ user, admin }`: a list for many callers, and one */
  async signIn({ callers, password, admin }) {
    this.tokens = { user: [], admin: [await this.token(admin.username, admin.password)] };
    for (const username of callers) this.tokens.user.push(await this.token(username, password));
    return this.tokens;
  }

  /** The cursor of a page, counted from 0; '' for the first; undefined without version 2 of the API. */
  async cursorAfter(pages) {
    if ((await this.usersByCursor('')) === undefined) return undefined;
    let cursor = '';
    for (let page = 0; page < pages; page++) cursor = (await this.usersByCursor(cursor)).pagination.next;
    return cursor;
  }

  async usersByCursor(cursor) {
    const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const headers = { ...PROXY_HEADERS, Authorization: `Bearer ${this.tokens.user[0]}` };
    const response = await fetch(`${this.url}/api/v2/users?size=${PAGE_SIZE}${place}`, { headers });
    if (response.status === 404) return undefined;
    return succeed(response);
  }

  async token(username, password) {
    const response = await fetch(`${this.url}/api/v1/auth/tokens`, {
      method: 'POST',
      headers: { ...PROXY_HEADERS, 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    return (await succeed(response)).data.access_token;
  }
}

async function succeed(response) {
  if (response.ok) return response.json();
  throw new Error(`The product answers ${new URL(response.url).pathname} with ${response.status}`);
}
