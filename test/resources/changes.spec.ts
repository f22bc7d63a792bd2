import { DataSource } from 'typeorm';
import { insertRow } from '../../src/platform';
import { type Client, expectError, expectSuccess } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

interface Told {
  type: string;
  id: number;
  change: string;
  version: number;
  resource?: Row | null;
}
interface Feed {
  changes: Told[];
  next: string;
  more: boolean;
}

describe('The feed of changes', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  let admin: TestUser;
  let author: TestUser;
  let stranger: TestUser;
  let own: Fixtures;

  beforeAll(async () => {
    [admin, author, stranger] = [await api.admin(), await api.user(), await api.user()];
    own = new Fixtures(api, author);
  });

  const read = async (client: Client, parameters: string, version = 'v1') =>
    expectSuccess(await client.get(`//api/${version}/changes?${parameters}`)) as Feed;
  const now = async (client: Client) => (await read(client, 'cursor=now')).next;
  const told = ({ changes }: Feed) => changes.map(({ type, id, change, version }) => [type, id, change, version]);
  const product = async (client: Client) =>
    expectSuccess(await client.post('/products', aProduct()), 201, 'Created') as Row;

  it.each(['v1', 'v2'])('tells what happened to a resource, in its order: %s', async (version) => {
    const client = api.as(admin);
    const mark = await now(client);
    const { id } = await product(client);
    await client.patch(`/products/${id}`, { stock: 3 });
    await client.patch(`/products/${id}`, { stock: 3 });
    await client.delete(`/products/${id}`);

    const feed = await read(api.as(stranger), `types=products&cursor=${mark}`, version);
    const versions = feed.changes.map((one) => one.version);
    expect(feed.changes.map(({ type, id, change }) => [type, id, change])).toEqual([
      ['products', id, 'CREATED'],
      ['products', id, 'UPDATED'],
      ...(versions.length === 4 ? [['products', id, 'UPDATED']] : []),
      ['products', id, 'DELETED'],
    ]);
    expect(versions).toEqual([...versions].sort((one, other) => one - other));
    expect(await read(client, `types=products&cursor=${feed.next}`)).toMatchObject({ changes: [], more: false });
  });

  it('goes on from each mark without a gap and without a repetition', async () => {
    const client = api.as(admin);
    const mark = await now(client);
    const made: number[] = [];
    for (let count = 0; count < 7; count++) made.push((await product(client)).id);

    const found: number[] = [];
    let [cursor, more] = [mark, true];
    while (more) {
      const feed = await read(client, `types=products&size=2&cursor=${cursor}`);
      expect(feed.changes.length).toBeLessThanOrEqual(2);
      found.push(...feed.changes.map(({ id }) => id));
      [cursor, more] = [feed.next, feed.more];
    }
    expect(found).toEqual(made);
  });

  it('begins with the oldest change that is kept', async () => {
    const { changes } = await read(api.as(admin), 'size=1');

    const [first] = await database().query<{ resource: string; resource_id: string }[]>(
      'SELECT resource, resource_id FROM audit_events WHERE coalesce(readers_before, readers_after) IS NOT NULL ORDER BY id LIMIT 1',
    );
    expect(changes).toMatchObject([{ type: first.resource, id: Number(first.resource_id) }]);
  });

  it('misses no change of a transaction that commits late', async () => {
    const client = api.as(admin);
    const mark = await now(client);
    let early: Product | undefined;
    let cursor = mark;
    const before: number[] = [];
    await database().transaction(async (manager) => {
      early = await insertRow(manager, Product, aProduct() as Partial<Product>);
      const late = await insertRow(database().manager, Product, aProduct() as Partial<Product>);
      const feed = await read(client, `types=products&cursor=${cursor}`);
      before.push(...feed.changes.map(({ id }) => id));
      expect(before).not.toContain(late.id);
      cursor = feed.next;
    });

    const after = (await read(client, `types=products&cursor=${cursor}`)).changes.map(({ id }) => id);
    expect([...before, ...after].filter((id) => id === early!.id)).toHaveLength(1);
    expect([...before, ...after]).toHaveLength(2);
  });

  // No transaction that is younger ends meanwhile, so no snapshot says that the running one has a number.
  it('misses no change of the only transaction that runs', async () => {
    const client = api.as(admin);
    let cursor = await now(client);
    const [made, found]: number[][] = [[], []];
    const follow = async () => {
      const feed = await read(client, `types=products&cursor=${cursor}`);
      found.push(...feed.changes.map(({ id }) => id));
      cursor = feed.next;
    };
    for (const times of [1, 2, 3]) {
      await database().transaction(async (manager) => {
        for (let count = 0; count < times; count++) {
          made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
        }
        await follow();
      });
      await follow();
    }

    expect(found).toEqual(made);
  });

  it('tells nothing of a transaction that is rolled back', async () => {
    const mark = await now(api.as(admin));
    const refused = database().transaction(async (manager) => {
      await insertRow(manager, Product, aProduct() as Partial<Product>);
      throw new Error('no');
    });
    await expect(refused).rejects.toThrow('no');

    expect(told(await read(api.as(admin), `cursor=${mark}`))).toEqual([]);
  });

  it('shows each caller what it may read, or could read until then', async () => {
    const mark = await now(api.as(admin));
    const [mine, theirs, all] = [author, stranger, admin].map((user) => api.as(user));
    const text = { title: 'A draft', content: 'Not yet' };
    const { id } = expectSuccess(await mine.post('/posts', { ...text, status: 'DRAFT' }), 201, 'Created') as Row;
    await mine.patch(`/posts/${id}`, { title: 'Still a draft' });
    await mine.patch(`/posts/${id}`, { status: 'PUBLISHED' });
    await mine.patch(`/posts/${id}`, { title: 'Published' });
    await mine.patch(`/posts/${id}`, { status: 'DRAFT' });
    await mine.delete(`/posts/${id}`);

    const ofPosts = (client: Client) => read(client, `types=posts&cursor=${mark}`);
    const whole = [
      ['posts', id, 'CREATED', 1],
      ...[2, 3, 4, 5].map((version) => ['posts', id, 'UPDATED', version]),
      ['posts', id, 'DELETED', 5],
    ];
    expect(told(await ofPosts(mine))).toEqual(whole);
    expect(told(await ofPosts(all))).toEqual(whole);
    expect(told(await ofPosts(theirs))).toEqual([
      ['posts', id, 'CREATED', 3],
      ['posts', id, 'UPDATED', 4],
      ['posts', id, 'DELETED', 5],
    ]);
  });

  it('shows what belongs to a draft to its author and to administrators', async () => {
    const mark = await now(api.as(admin));
    const comment = await own.comment({}, await own.post({ status: 'DRAFT' }));
    await own.reply({}, comment);

    const ofTexts = async (user: TestUser) =>
      (await read(api.as(user), `types=comments,replies&cursor=${mark}`)).changes.map(({ type }) => type);
    expect(await ofTexts(author)).toEqual(['comments', 'replies']);
    expect(await ofTexts(admin)).toEqual(['comments', 'replies']);
    expect(await ofTexts(stranger)).toEqual([]);
  });

  it('shows orders to their buyer and to administrators', async () => {
    const mark = await now(api.as(admin));
    const order = await own.order();

    const ofOrders = async (user: TestUser) => told(await read(api.as(user), `types=orders&cursor=${mark}`));
    expect(await ofOrders(author)).toContainEqual(['orders', order.id, 'CREATED', 1]);
    expect(await ofOrders(admin)).toEqual(await ofOrders(author));
    expect(await ofOrders(stranger)).toEqual([]);
  });

  it('adds the resource as its own route shows it now', async () => {
    const client = api.as(admin);
    const mark = await now(client);
    const kept = await product(client);
    const gone = await product(client);
    await client.delete(`/products/${gone.id}`);
    const email = `changed-${stranger.id}@example.com`;
    expectSuccess(await client.patch(`/users/${stranger.id}`, { email }));

    const feed = await read(api.as(author), `include=resource&types=products,users&cursor=${mark}`);
    const resourceOf = (type: string, id: number) =>
      feed.changes.find((one) => one.type === type && one.id === id)!.resource;
    expect(resourceOf('products', kept.id)).toEqual((await client.get(`/products/${kept.id}`)).body.data);
    expect(resourceOf('products', gone.id)).toBeNull();
    expect(resourceOf('users', stranger.id)).not.toHaveProperty('email');
    const [other] = (await read(client, `include=resource&types=users&cursor=${mark}`)).changes;
    expect(other.resource).toMatchObject({ email });
  });

  it('gives all resources, however large, in as many answers as they need', async () => {
    const client = api.as(admin);
    const mark = await now(client);
    // Four bytes for each character: sixty of them are more than one answer may have.
    const ids: number[] = [];
    for (let count = 0; count < 60; count++) ids.push((await own.post({ content: '😀'.repeat(50_000) })).id);

    const found: number[] = [];
    let [cursor, more, answers] = [mark, true, 0];
    for (; more; answers++) {
      const feed = await read(client, `types=posts&include=resource&cursor=${cursor}`);
      expect(feed.changes.filter(({ resource }) => resource === null)).toEqual([]);
      found.push(...feed.changes.map(({ id }) => id));
      [cursor, more] = [feed.next, feed.more];
    }
    expect(found).toEqual(ids);
    expect(answers).toBeGreaterThan(1);
  });

  it('refuses a mark of another history, as after a restore', async () => {
    const { next } = await read(api.as(admin), 'cursor=now');
    const [position, at] = next.split('-');

    expectError(
      await api.as(admin).get(`/changes?cursor=${(parseInt(position, 36) + 1_000_000).toString(36)}-${at}`),
      'CHANGES_EXPIRED',
    );
  });

  it('refuses a mark that is too old, with what to do', async () => {
    const old = (Date.now() - 8 * 86_400_000).toString(36);

    const answer = await api.as(admin).get(`/changes?cursor=0-${old}`);
    expectError(answer, 'CHANGES_EXPIRED');
    expect(answer.body.error.details).toContain('cursor=now');
  });

  it.each(['', 'NOW', 'now-', '-', '0', '0-0-0', '00-0', 'zzzzzzzzzzz-0', `0-${(Date.now() + 1e9).toString(36)}`])(
    'refuses what is no mark: %s',
    async (cursor) => {
      const { status } = await api.as(admin).get(`/changes?cursor=${cursor}`);
      expect([400, cursor === '0-0' ? 410 : 400]).toContain(status);
    },
  );

  it('refuses types that it does not tell, by their name', async () => {
    for (const types of ['sessions', 'uploads', 'products,nothing', 'order-items']) {
      expectError(await api.as(admin).get(`/changes?types=${types}`), 'VALIDATION_ERROR', {
        fields: { types: 'enum' },
      });
    }
    expect((await api.as(admin).get('/changes?size=101')).status).toBe(400);
    expect((await api.as(admin).get('/changes?size=0')).status).toBe(400);
  });
});
