import { existsSync, readFileSync } from 'node:fs';
import * as tus from 'tus-js-client';
import { waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { commandsIn, type Step, takeTour, titlesIn } from '../support/tour';

const page = readFileSync('docs/using-the-api.md', 'utf8');
const commands = commandsIn(page);
const titles = titlesIn(commands);
/** The examples may be taken out of the service, and of the page. */
const HAS_EXAMPLES = existsSync('src/resources/products');

/** What each step prints. The page has a step for each of them, and no others. */
const PRINTED: Record<string, RegExp> = {
  'Prints a value of an answer: `value data.id`': /^$/,
  'Ask where to begin': /"resources":\[.*"href":"\/api\/v1\/users"/,
  'Read what is open to everybody': /^Hello/,
  Register: /"code":201.*"username":"alan"/,
  'Sign in: keep both tokens': /"code":201.*"refresh_token":"/,
  'Call with the access token': /"code":200.*"username":"alan"/,
  'Refresh before it ends: a new pair, and the old refresh token is spent': /"code":200.*"refresh_token":"/,
  'Make several mistakes: each field is named':
    /"VALIDATION_ERROR".*"field":"username".*"field":"email".*"field":"password"/,
  'Take a name that somebody has: the conflict names it, too': /"CONFLICT".*"rule":"unique"/,
  'Ask for errors as problem details (RFC 9457)': /"status":401/,
  'Read several at once, by their ids': /"data":\[\{"id":1,"username":"ada"\},\{"id":2,"username":"grace"\}\]/,
  'The version of a representation is its tag, too': /"code":200.*"name":"Alan M. Turing"/,
  'Create two products at once': /"code":201.*"Tea pot".*"Tea cosy"/,
  'Make an address that needs no token, for a picture in a page': /"code":201.*"url":"\/api\/v1\/uploads\//,
  "Send POST where PATCH can't pass": /"code":200.*"name":"Alan"/,
  'Read all of a list as CSV, not only a page': /^id,username\r?\n1,ada\r?\n/,
  'Ask for XML': /<username>alan<\/username>/,
  "Ask for what isn't there": /"USER_NOT_FOUND"/,
  'Read the second page of three, sorted by name': /"code":200.*"pagination":\{"page":1,"size":3,"total":\d+/,
  'Read only two attributes': /"data":\[\{"id":\d+,"username":"\w+"\},\{"id":\d+,"username":"\w+"\}\]/,
  Search: /"data":\[\{"username":"ada"\}\]/,
  'Walk through all pages by cursors, which version 2 has': /"next":"[^"]+".*"next":null[^}]*\}[^}]*\}$/s,
  'Filter and search products': /"code":200.*"data":\[\{"name":"[^"]+","price":[\d.]+\}/,
  'Read the products that have changed since a moment, in lines of JSON':
    /^(?:\{"id":\d+,"updated_at":"[^"]+","version":\d+\}\n?)+$/,
  'Read posts with their authors and first comments': /"code":200.*"comments":\{"data":\[/,
  'Read a user with its entity tag': /^"\d+"$/,
  'Read it again only if it has changed: 304': /^HTTP\/1.1 304/,
  'Change it only if nobody else has: 200': /"code":200.*"name":"Alan Turing"/,
  'The tag is old now: 412': /"PRECONDITION_FAILED"/,
  'Send an intention twice: there is one user': /^HTTP\/1.1 201.*HTTP\/1.1 201.*Idempotent-Replayed: true/s,
  'Use the key for another intention: 422': /"IDEMPOTENCY_KEY_REUSED"/,
  'Create an upload of 11 bytes': /^[0-9a-f-]{36}$/,
  'Send the first piece': /^HTTP\/1.1 204.*Upload-Offset: 6/s,
  'Ask where to continue after an interruption': /^6$/,
  'Send the rest, and read it all': /^HTTP\/1.1 204.*hello world$/s,
  'Ask for version 2 by its media type': /"code":200.*"next":"/,
  'Take a mark, and come back with it: nothing has changed': /"data":\{"changes":\[\],"next":"[\w-]+","more":false\}/,
  'Change something, and see it': /"changes":\[\{"type":"users",.*"change":"UPDATED".*"name":"A. M. Turing"/,
  'Say where to: paused, until the receiver has the secret that this answer shows once': /^whsec_[A-Za-z0-9+/]{43}=$/,
  'Change the secret: both sign for an hour': /"code":201.*"secret":"whsec_/,
  'See how deliveries went': /"code":200.*"data":\[\]/,
  'See whether a path will go away': /^0$/,
  'Take a mark, and read what has changed since': /"code":200.*"type":"users","id":\d+,"change":"UPDATED"/,
  'Wait for the next change, for 30 seconds at most': /"code":200.*"type":"users","id":\d+,"change":"UPDATED"/,
  'Follow what comes, here for two seconds': /^retry: 2000\nid: .*\nevent: change\ndata: \{"type":"users"/s,
};

/** A script of the page, as a function of the names that it uses from around. */
function script<T>(containing: string, result: string, names: Record<string, unknown>): Promise<T> {
  const blocks = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block);
  const source = `${blocks.find((block) => block.includes(containing))!}\nreturn ${result};`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the page of this repository
  const run = new Function(...Object.keys(names), `return (async () => {${source}})();`) as (
    ...values: unknown[]
  ) => Promise<T>;
  return run(...Object.values(names));
}

describe('docs/using-the-api.md', () => {
  const api = useTestApi({ settings: { DEMO_DATA: 'true' } });
  let steps: Step[];

  beforeAll(async () => {
    steps = await takeTour(commands, api.url);
  });

  it('has the steps that are tested', () => {
    expect(titles.filter((title) => !(title in PRINTED))).toEqual([]);
    if (HAS_EXAMPLES) expect([...titles].sort()).toEqual(Object.keys(PRINTED).sort());
  });

  it.each(titles)('prints what it says: %s', (title) => {
    expect(steps.find((step) => step.title === title)!.output).toMatch(PRINTED[title]);
  });

  it('refreshes once for two tabs', async () => {
    const { refreshToken } = await api.user();
    const stored = new Map([['tokens', JSON.stringify({ refresh_token: refreshToken, ends_at: 0 })]]);
    const localStorage = {
      getItem: (name: string) => stored.get(name),
      setItem: (name: string, value: string) => stored.set(name, value),
    };
    let before: Promise<unknown> = Promise.resolve();
    const locks = {
      request: (_name: string, work: () => Promise<unknown>) => (before = before.then(work)),
    };
    const names = { API: `${api.url}/api/v1`, localStorage, navigator: { locks } };

    const [one, other] = await script<string[]>('accessToken', 'Promise.all([accessToken(), accessToken()])', names);

    expect(one).toBe(other);
    expect(await api.with({ Authorization: `Bearer ${one}` }).get('/users/profile')).toMatchObject({ status: 200 });
  });

  it('follows changes, and comes back with the last mark', async () => {
    const { id, token } = await api.user();
    const { data } = (await api.with({ Authorization: `Bearer ${token}` }).get('/changes?cursor=now')).body;
    const names = { API: `${api.url}/api/v1`, accessToken: () => Promise.resolve(token) };
    type Follow = (mark: string, take: (change: object) => void, signal: AbortSignal) => Promise<void>;
    // A promise of a function would be taken for one of what it returns.
    const { follow } = await script<{ follow: Follow }>('followChanges', '{ follow: followChanges }', names);
    const abort = new AbortController();
    const taken: object[] = [];
    const following = follow((data as { next: string }).next, (change) => void taken.push(change), abort.signal);
    await api.as({ token }).patch(`/users/${id}`, { name: 'Followed' });

    await waitFor(() => taken.length > 0);
    expect(taken).toMatchObject([{ type: 'users', id, change: 'UPDATED' }]);
    abort.abort();
    await following;
  });

  it('uploads a file with progress', async () => {
    const { token } = await api.user();
    const file = Object.assign(Buffer.from('A file of a test.'), { name: 'test.txt', type: 'text/plain' });
    const shown: number[] = [];

    const offset = await new Promise((done, failed) => {
      const names = { tus, file, token, API: `${api.url}/api/v1`, showProgress: (part: number) => shown.push(part) };
      void script('new tus.Upload', 'undefined', { ...names, done, failed });
    });

    expect(offset).toBe('17');
    expect(shown.at(-1)).toBe(1);
  });
});
