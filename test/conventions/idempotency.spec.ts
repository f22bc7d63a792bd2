import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { IdempotencyKeys } from '../../src/platform/idempotency/idempotency-keys';
import { type Answer, type Client, countStatuses, expectError, RowLock, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { aNewUser } from '../support/builders';
import { useTestApi } from '../support/test-api';

const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const PRINTABLE = String.fromCharCode(...times(95, (index) => 32 + index)).trim();

describe('An idempotency key', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;
  let user: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    const owner = await api.user();
    user = api.as(owner);
    own = new Fixtures(api, owner);
  });

  const query = (text: string) => api.app.nest.get(DataSource).query<Record<string, never>[]>(text);
  const count = async (table: string) => Number((await query(`SELECT count(*) FROM ${table}`))[0].count);

  it('is no hindrance to a request without one, or with another', async () => {
    const body = { title: 'A post', content: 'A text' };
    const rows = await count('posts');
    for (const headers of [keyed(), keyed(), {}, {}]) {
      expect((await user.post('/posts', body, headers)).status).toBe(201);
    }
    expect(await count('posts')).toBe(rows + 4);
  });

  it('is 422 with another request', async () => {
    const body = { title: 'A post', content: 'A text' };
    const headers = keyed();
    expect((await user.post('/posts', body, headers)).status).toBe(201);

    const others = [
      user.post('/posts', { ...body, title: 'Another' }, headers),
      user.post('/replies', { comment_id: 1, content: 'x' }, headers),
      user.post('//api/v2/posts', body, headers),
      user.post(`/users/${own.owner.id}/posts`, body, headers),
    ];
    for (const answer of await Promise.all(others)) {
      expect([409, 422]).toContain(answer.status);
    }
    expectError(await user.post('/posts', { ...body, title: 'Another' }, headers), 'IDEMPOTENCY_KEY_REUSED');
    expect(isReplayed(await user.post('/posts', body, headers))).toBe(true);
  });

  it('compares JSON values: the order of attributes and the spelling of numbers do not matter', async () => {
    const { id: one } = await own.product({ price: 10 });
    const { id: other } = await own.product({ price: 10 });
    const order = (items: string, total: string) => `{"items":[${items}],"expected_total":${total}}`;
    const line = (id: number) => `{"product_id":${id},"quantity":1}`;
    const headers = keyed();
    const send = (body: string) => user.post('/orders', body, { ...headers, 'Content-Type': 'application/json' });
    const first = await send(order(`${line(one)},${line(other)}`, '20'));
    expect(first.status).toBe(201);

    for (const same of [
      order(`{"quantity":1,"product_id":${one}},${line(other)}`, '20.00'),
      `{ "expected_total": 2e1, "items": [ ${line(one)}, { "quantity": 1.0, "product_id": ${other} } ] }`,
    ]) {
      const again = await send(same);
      expect([again.status, isReplayed(again), again.text]).toEqual([201, true, first.text]);
    }
    for (const different of [
      order(`${line(other)},${line(one)}`, '20'),
      order(`${line(one)},${line(other)}`, '20.01'),
    ]) {
      expectError(await send(different), 'IDEMPOTENCY_KEY_REUSED');
    }
  });

  it('belongs to its caller', async () => {
    const headers = keyed();
    const body = { title: 'A post', content: 'A text' };
    const [mine, other] = [await user.post('/posts', body, headers), await admin.post('/posts', body, headers)];

    expect([mine.status, other.status, isReplayed(other)]).toEqual([201, 201, false]);
    expect(mine.body.data.id).not.toBe(other.body.data.id);
  });

  it('belongs, without an account, to the address and the route', async () => {
    const headers = keyed();
    const newcomer = aNewUser();
    const first = await api.post('/users', newcomer, headers);
    const again = await api.post('/users', newcomer, headers);

    expect([first.status, again.status, isReplayed(again), again.text]).toEqual([201, 201, true, first.text]);
    expectError(await api.post('/users', aNewUser(), headers), 'IDEMPOTENCY_KEY_REUSED');
    expectError(await api.post('/users', newcomer, keyed()), 'CONFLICT');
  });

  it('lets a request have its effect once, however many come at the same time', async () => {
    const product = await own.product({ stock: 100 });
    const body = { items: [{ product_id: product.id, quantity: 1 }] };
    const headers = keyed();
    const answers = await Promise.all(times(30, () => user.post('/orders', body, headers)));

    const made = answers.filter(({ status }) => status === 201);
    expect(Object.keys(countStatuses(answers)).filter((status) => !['201', '409'].includes(status))).toEqual([]);
    expect(made.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect((await admin.get(`/products/${product.id}`)).body.data.stock).toBe(99);
  });

  it('is 409, with the time to wait, while the first request is in progress', async () => {
    const headers = keyed();
    const body = { title: 'A post', content: 'A text' };
    const lock = await RowLock.of(api.app.databaseUrl, 'users', own.owner.id);
    const first = user.post('/posts', body, headers);
    await lock.awaitedBy(1);

    const second = await user.post('/posts', body, headers);
    const { details, fields } = expectError(second, 'CONFLICT');
    expect([details, fields?.map(({ field, rule }) => [field, rule])]).toEqual([
      expect.stringContaining('in progress'),
      [['Idempotency-Key', 'key']],
    ]);
    expect(second.headers.get('retry-after')).toBe('1');
    await lock.release();
    expect((await first).status).toBe(201);
    expect(isReplayed(await user.post('/posts', body, headers))).toBe(true);
  });

  it('is not used up by a failure, which leaves no trace', async () => {
    const product = await own.product({ stock: 0 });
    const order = { items: [{ product_id: product.id, quantity: 1 }] };
    const headers = keyed();
    const rows = await count('idempotency_keys');

    expectError(await user.post('/orders', order, headers), 'CONFLICT');
    expectError(await user.post('/orders', { items: [] }, headers), 'VALIDATION_ERROR');
    expectError(await api.post('/orders', order, headers), 'UNAUTHORIZED');
    expect(await count('idempotency_keys')).toBe(rows);
    await admin.patch(`/products/${product.id}`, { stock: 1 });
    expect((await user.post('/orders', order, headers)).status).toBe(201);
    expect(isReplayed(await user.post('/orders', order, headers))).toBe(true);
  });

  it('is anything printable of 1 to 255 characters', async () => {
    const body = { title: 'A post', content: 'A text' };
    for (const key of ['x', '"quoted"', PRINTABLE, 'k'.repeat(255)]) {
      expect((await user.post('/posts', body, keyed(key))).status).toBe(201);
      expect(isReplayed(await user.post('/posts', body, keyed(key)))).toBe(true);
    }
    for (const key of ['', 'k'.repeat(256), 'tab\tin', 'ünicode']) {
      const answer = await user.post('/posts', body, keyed(key));
      expectError(answer, 'VALIDATION_ERROR', { fields: { 'Idempotency-Key': 'key' } });
    }
  });

  it('is forgotten after 24 hours', async () => {
    const body = { title: 'A post', content: 'A text' };
    const [old, young] = [keyed(), keyed()];
    const first = await user.post('/posts', body, old);
    await query("UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'");
    const second = await user.post('/posts', body, young);
    expect((await user.post('/posts', body, old)).body.data.id).not.toBe(first.body.data.id);

    await query("UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes' WHERE tag = '1'");
    await user.post('/posts', body, keyed());
    await query(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'
                  WHERE id = (SELECT id FROM idempotency_keys ORDER BY created_at DESC LIMIT 1)`);
    const rows = await count('idempotency_keys');
    await api.app.nest.get(IdempotencyKeys).removeExpired();
    expect(await count('idempotency_keys')).toBe(rows - 1);
    expect(isReplayed(await user.post('/posts', body, young))).toBe(true);
    expect((await user.post('/posts', body, young)).body.data.id).toBe(second.body.data.id);
  });

  it('is stored without a secret: neither the key, nor what was sent, can be read or tried', async () => {
    const key = `secret-key-${randomUUID()}`;
    const password = 'a secret of this very test';
    await api.post('/users', aNewUser({ password }), keyed(key));
    const rows = await query(
      "SELECT encode(id, 'escape') AS id, encode(fingerprint, 'escape') AS f, headers::text, body FROM idempotency_keys",
    );

    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(password);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('is refused where the answer holds secrets, and means nothing to methods that may be repeated anyway', async () => {
    const signIn = { username: own.owner.username, password: own.owner.password };
    const refused = await api.post('/auth/tokens', signIn, keyed());
    const { details } = expectError(refused, 'VALIDATION_ERROR', { fields: { 'Idempotency-Key': 'unknown' } });
    expect(details).toContain('secrets');

    const { id } = await own.product();
    for (const stock of [1, 2]) {
      const answer = await admin.patch(`/products/${id}`, { stock }, keyed('the same'));
      expect([answer.status, answer.body.data.stock, isReplayed(answer)]).toEqual([200, stock, false]);
    }
  });
});
