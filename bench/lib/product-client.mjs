import { PROXY_HEADERS } from './server-process.mjs';

const PAGE_SIZE = 100;
/** A list of requests has no more. */
const CURSORS = 10_000;

/** Requests of the harness to the product, outside of measurements. */
export class ProductClient {
  constructor(url) {
    this.url = url;
  }

  /** @returns lists of the tokens of `{ user, admin }` */
  async signIn({ callers, admins, password }) {
    this.tokens = { user: [], admin: [] };
    for (const { username } of callers) this.tokens.user.push(await this.token(username, password));
    for (const { username } of admins) this.tokens.admin.push(await this.token(username, password));
    return this.tokens;
  }

  /** True, or undefined without version 2 of the API. */
  async hasCursors() {
    return (await this.usersByCursor('')) && true;
  }

  /** Cursors spread over all users, of whom there are `count`; undefined without version 2 of the API. */
  async cursors(count) {
    if (!(await this.hasCursors())) return undefined;
    const every = Math.ceil(count / PAGE_SIZE / CURSORS);
    const cursors = [];
    // The last pages have the callers themselves.
    const pages = Math.floor(count / PAGE_SIZE) - 2;
    for (let page = 1, cursor = ''; page < pages; page++) {
      cursor = (await this.usersByCursor(cursor)).pagination.next;
      if (page % every === 0) cursors.push(cursor);
    }
    return cursors;
  }

  /** Writes posts. @returns the ids of each caller's */
  async posts(count) {
    const ids = this.tokens.user.map(() => []);
    for (let number = 1; number <= count; number++) {
      for (const [place, own] of ids.entries()) {
        const { data } = await this.post('/posts', { title: `Post ${number}`, content: 'Before' }, place);
        own.push(data.id);
      }
    }
    return ids;
  }

  /** As one of the users. */
  async post(path, body, place) {
    return succeed(await this.send(path, body, { Authorization: `Bearer ${this.tokens.user[place]}` }));
  }

  async usersByCursor(cursor) {
    const place = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const headers = { ...PROXY_HEADERS, Authorization: `Bearer ${this.tokens.user[0]}` };
    const response = await fetch(`${this.url}/api/v2/users?size=${PAGE_SIZE}${place}`, { headers });
    if (response.status === 404) return undefined;
    return succeed(response);
  }

  async token(username, password) {
    return (await succeed(await this.send('/auth/tokens', { username, password }))).data.access_token;
  }

  send(path, body, headers = {}) {
    return fetch(`${this.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...PROXY_HEADERS, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }
}

async function succeed(response) {
  if (response.ok) return response.json();
  throw new Error(`The product answers ${new URL(response.url).pathname} with ${response.status}`);
}
