import { setTimeout as delay } from 'node:timers/promises';
import { times } from '../../src/platform/testing';
import { builtClient, describeCalls } from '../support/client';
import { Fixtures } from '../support/fixtures';
import { type Fault, useGateway } from '../support/gateway';
import { useTestApi } from '../support/test-api';

const { createClient, isApiError, memoryStore } = builtClient();
const QUICK = { firstDelay: 1, longestDelay: 5 };
const busy: Fault = { status: 503, headers: { 'Retry-After': '0' } };

interface Change {
  id: number;
  change: string;
  mark: string;
  resource?: object | null;
}
interface Page {
  changes: Change[];
  mark: string;
}

describeCalls('client.changes()', () => {
  const api = useTestApi();
  const gateway = useGateway(() => api.url);
  let own: Fixtures;
  let client: ReturnType<typeof createClient>;
  let store: unknown;

  beforeAll(async () => {
    const admin = await api.admin();
    own = new Fixtures(api, admin);
    store = memoryStore({
      accessToken: admin.token,
      accessExpiresAt: Infinity,
      refreshToken: admin.refreshToken,
    });
    client = createClient({ url: gateway.url, store, retry: QUICK });
  });

  const now = async (): Promise<string> =>
    (await client.GET('/changes', { params: { query: { cursor: 'now' } } })).data.next;
  const products = async (count: number) => {
    const made: number[] = [];
    for (const make of times(count, () => () => own.product())) made.push((await make()).id);
    return made;
  };
  const changesOf = (options: object): AsyncIterable<Change> & { pages: () => AsyncIterable<Page> } =>
    client.changes({ types: ['products'], follow: false, ...options });
  async function taken<T>(items: AsyncIterable<T>, most = Infinity): Promise<T[]> {
    const found: T[] = [];
    for await (const one of items) {
      found.push(one);
      if (found.length >= most) break;
    }
    return found;
  }

  it('goes on while there are more, through broken connections, and ends at the end unless it follows', async () => {
    const from = await now();
    const made = await products(5);
    gateway.next('before', 'after', busy, 'midway');
    const found = await taken(changesOf({ from, size: 2 }));

    expect(found.map(({ id }) => id)).toEqual(made);
    expect(gateway.asked).toHaveLength(4 + 3);
  });

  it('waits for further changes, which come while the loop waits', async () => {
    const from = await now();
    const [first] = await products(1);
    const found: number[] = [];
    for await (const { id } of changesOf({ from, follow: true, interval: 10 })) {
      found.push(id);
      if (found.length === 3) break;
      await products(1);
    }

    expect(found[0]).toBe(first);
    expect(new Set(found).size).toBe(3);
  });

  it('begins after all changes so far, if nothing else is said', async () => {
    await products(1);
    const pages = changesOf({ follow: true, interval: 10 }).pages()[Symbol.asyncIterator]();
    expect((await pages.next()).value.changes).toEqual([]);
    const [made] = await products(1);

    for (;;) {
      const { value } = (await pages.next()) as { value: Page };
      if (value.changes.length === 0) continue;
      expect(value.changes.map(({ id }) => id)).toEqual([made]);
      break;
    }
  });

  it('misses nothing after the mark of any change, wherever its reader was stopped', async () => {
    const from = await now();
    const made = await products(5);
    const whole = await taken(changesOf({ from, size: 2 }));

    for (const [index, { mark }] of whole.entries()) {
      const after = (await taken(changesOf({ from: mark }))).map(({ id }) => id);
      expect(made.slice(index + 1)).toEqual(after.slice(after.length - (made.length - index - 1)));
    }
    expect(await taken(changesOf({ from: whole.at(-1)!.mark }))).toEqual([]);
  });

  it('has pages with the mark after each, and one request without a change', async () => {
    const from = await now();
    await products(3);
    const pages = await taken(changesOf({ from, size: 2 }).pages());
    expect(pages.map(({ changes }) => changes.length)).toEqual([2, 1]);

    gateway.next();
    const rest = await taken(changesOf({ from: pages[1].mark }).pages());
    expect(rest).toEqual([{ changes: [], mark: expect.any(String) as string }]);
    expect(gateway.asked).toHaveLength(1);
  });

  it('adds the resource as it is now', async () => {
    const from = await now();
    const [kept, gone] = await products(2);
    await client.products.remove(gone);
    const found = await taken(changesOf({ from, include: 'resource' }));

    expect(found.map(({ change }) => change)).toEqual(['CREATED', 'CREATED', 'DELETED']);
    expect(found.map(({ resource }) => resource)).toEqual([await client.products.get(kept), null, null]);
  });

  it('fails with CHANGES_EXPIRED when the mark is too old', async () => {
    const old = `0-${(Date.now() - 8 * 86_400_000).toString(36)}`;
    const error: unknown = await taken(changesOf({ from: old })).catch((caught: unknown) => caught);

    expect(isApiError(error)).toBe(true);
    expect(error).toMatchObject({ status: 410, code: 'CHANGES_EXPIRED' });
  });

  it('ends at once when it is cancelled while it waits', async () => {
    const controller = new AbortController();
    const following = taken(changesOf({ follow: true, interval: 1e9, signal: controller.signal }));
    await Promise.race([following, delay(0)]);
    controller.abort(new Error('Enough'));

    await expect(following).rejects.toThrow('Enough');
  });

  it('asks for what it names, and lets the service wait for what has not come yet', async () => {
    const from = await now();
    await products(1);
    gateway.next();
    await taken(client.changes({ from, types: ['products', 'posts'], size: 7, interval: 1 }).pages(), 1);
    await taken(changesOf({ from }).pages());

    const [following, once] = gateway.requests.map(({ path }) => path);
    expect(following).toContain('types=products,posts&size=7&wait=30');
    expect(once).not.toContain('wait');
  });

  it('gives an answer that the service waits with more time than others', async () => {
    const from = await now();
    const short = createClient({ url: gateway.url, store, retry: QUICK, timeout: 500 });
    const waiting = taken(short.changes({ from, types: ['products'] }), 1);
    const other = short.changes({ from: await now(), types: ['posts'], follow: false });
    gateway.faultOf = ({ path }) => (path.includes('types=posts') ? 'silence' : undefined);

    await expect(taken(other)).rejects.toMatchObject({ code: 'TIMEOUT' });
    const [made] = await products(1);
    expect(await waiting).toMatchObject([{ id: made }]);
  });
});
