import { DataSource, type EntityManager } from 'typeorm';
import { AuditEvent, inBackground, insertRows, UnitOfWork, updateRow } from '../../src/platform';
import { type Client, expectSuccess } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

type Write = (manager: EntityManager, id: number) => Promise<unknown>;

const WRITES: [name: string, write: Write][] = [
  ['updateRow()', (manager, id) => updateRow(manager, Product, id, { stock: 77 })],
  [
    'save()',
    async (manager, id) => manager.save(Object.assign(await manager.findOneByOrFail(Product, { id }), { stock: 77 })),
  ],
  ['update()', (manager, id) => manager.update(Product, { id }, { stock: 77 })],
  [
    'a query builder',
    (manager, id) => manager.createQueryBuilder().update(Product).set({ stock: 77 }).where({ id }).execute(),
  ],
  ['SQL', (manager, id) => manager.query('UPDATE products SET stock = 77 WHERE id = $1', [id])],
  [
    'SQL in a transaction',
    (manager, id) => manager.transaction((own) => own.query('UPDATE products SET stock = 77 WHERE id = $1', [id])),
  ],
];

describe('The rows of an audited table', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  const eventsOf = (resource: string, id: unknown) =>
    database()
      .getRepository(AuditEvent)
      .find({ where: { resource, resource_id: String(id) }, order: { id: 'ASC' } });
  let admin: TestUser;
  let client: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = await api.admin();
    client = api.as(admin);
    own = new Fixtures(api, admin);
  });

  const product = async (): Promise<Row> =>
    expectSuccess(await client.post('/products', aProduct()), 201, 'Created') as Row;
  const asRequest = <T>(work: () => Promise<T>) =>
    new UnitOfWork(undefined, {
      id: 'request-1',
      ip: '192.0.2.7',
      user: { id: admin.id, roles: ['USER', 'ADMIN'] },
    }).run(work);

  it('leave an event for each request that changes one, with its caller, its id and the values', async () => {
    const { id } = await product();
    const who = { user_id: admin.id, address: expect.stringMatching(/^[\d.:a-f]+$/) as string };
    const { headers } = await client.patch(`/products/${id}`, { price: 8.5, stock: 4 });
    await client.patch(`/products/${id}`, { stock: 4 });
    await client.delete(`/products/${id}`);

    const [created, updated, deleted, ...others] = await eventsOf('products', id);
    expect(created).toMatchObject({ ...who, action: 'CREATED', version_before: null, version_after: 1, before: null });
    expect(created.after).toMatchObject({ price: 9.95, status: 'ACTIVE' });
    expect(updated).toMatchObject({ ...who, action: 'UPDATED', version_before: 1, version_after: 2 });
    expect(updated.request_id).toBe(headers.get('x-request-id'));
    expect([updated.before, updated.after]).toEqual([
      { price: 9.95, stock: created.after!.stock },
      { price: 8.5, stock: 4 },
    ]);
    expect(deleted).toMatchObject({ ...who, action: 'DELETED', version_before: 2, version_after: 3 });
    expect(others).toEqual([]);
  });

  it.each(WRITES)('know the caller of a change by %s', async (_name, write) => {
    const { id } = await product();
    await asRequest(() => write(database().manager, id));

    const event = (await eventsOf('products', id)).at(-1)!;
    expect(event).toMatchObject({ action: 'UPDATED', after: { stock: 77 } });
    expect(event).toMatchObject({ user_id: admin.id, request_id: 'request-1', address: '192.0.2.7' });
  });

  it('leave an event without a caller for a job, on a connection that a request has used', async () => {
    const { id } = await product();
    await inBackground(() => updateRow(database().manager, Product, id, { stock: 1 }));
    await database().query('UPDATE products SET stock = 2 WHERE id = $1', [id]);

    const events = (await eventsOf('products', id)).slice(1);
    expect(events.map(({ user_id, request_id, address }) => [user_id, request_id, address])).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
  });

  it('leave none if the change is undone or refused', async () => {
    const { id } = await product();
    const undone = database().transaction(async (manager) => {
      await updateRow(manager, Product, id, { stock: 3 });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await expect(updateRow(database().manager, Product, id, { stock: -1 })).rejects.toThrow();

    expect(await eventsOf('products', id)).toHaveLength(1);
  });

  it('leave an event each where one statement writes many', async () => {
    const made = await asRequest(() =>
      insertRows(database().manager, Product, [aProduct(), aProduct(), aProduct()] as Partial<Product>[]),
    );

    for (const { id } of made) {
      expect(await eventsOf('products', id)).toMatchObject([{ action: 'CREATED', request_id: 'request-1' }]);
    }
  });

  it('leave an event each where a foreign key deletes them', async () => {
    const post = await own.post();
    const comment = await own.comment({}, post);
    const reply = await own.reply({}, comment);
    await client.delete(`/posts/${post.id}`);

    const found = [
      await eventsOf('posts', post.id),
      await eventsOf('comments', comment.id),
      await eventsOf('replies', reply.id),
    ];
    const deletion = { action: 'DELETED', user_id: admin.id, version_before: 1, version_after: null, after: null };
    expect(found.map((events) => events.at(-1))).toMatchObject([deletion, deletion, deletion]);
    expect(found[1].at(-1)!.before).toMatchObject({ content: comment.content });
  });

  it('leave their events in one transaction if they change together', async () => {
    const { id } = await product();
    const body = { items: [{ product_id: id, quantity: 2 }] };
    const order = expectSuccess(await client.post('/orders', body), 201, 'Created') as Row;

    const rows = await database().query<{ resource: string }[]>(
      `SELECT resource FROM audit_events WHERE xmin =
         (SELECT xmin FROM audit_events WHERE resource = 'orders' AND resource_id = $1) ORDER BY id`,
      [order.id],
    );
    expect(rows.map(({ resource }) => resource).sort()).toEqual(['orders', 'products']);
  });

  it('never show a password, nor its hash', async () => {
    const { id } = await api.user();
    const password = 'another password of a test';
    expectSuccess(await client.patch(`/users/${id}`, { password, name: 'Ada' }));
    const [{ password_hash }] = await database().query<{ password_hash: string }[]>(
      'SELECT password_hash FROM users WHERE id = $1',
      [id],
    );

    const [created, updated] = await eventsOf('users', id);
    expect([created.concealed, updated.concealed]).toEqual([['password_hash'], ['password_hash']]);
    expect(updated.after).toEqual({ name: 'Ada' });
    const text = JSON.stringify(await database().getRepository(AuditEvent).find());
    for (const secret of [password, password_hash, '$argon2']) expect(text).not.toContain(secret);
  });

  it('leave an event of the role and the status that an administrator sets', async () => {
    const { id } = await api.user();
    expectSuccess(await client.patch(`/users/${id}`, { roles: ['USER', 'ADMIN'], status: 'SUSPENDED' }));

    expect((await eventsOf('users', id)).at(-1)).toMatchObject({
      before: { roles: ['USER'], status: 'ACTIVE' },
      after: { roles: ['USER', 'ADMIN'], status: 'SUSPENDED' },
      user_id: admin.id,
    });
  });

  it('leave an event of a table that was emptied', async () => {
    await database().query('TRUNCATE replies');

    const events = await database().getRepository(AuditEvent).findBy({ action: 'TRUNCATED' });
    expect(events).toMatchObject([{ resource: 'replies', resource_id: null }]);
  });
});

describe('Audit events', () => {
  const api = useTestApi();
  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<unknown[]>(text, values);
  const REFUSED = 'Audit events are neither changed nor deleted';

  it('are neither changed nor deleted by a statement', async () => {
    await api.user();

    await expect(query("UPDATE audit_events SET action = 'X'")).rejects.toThrow(REFUSED);
    await expect(query('UPDATE audit_events SET user_id = 1 WHERE false')).rejects.toThrow(REFUSED);
    await expect(query('DELETE FROM audit_events')).rejects.toThrow(REFUSED);
    await expect(query('TRUNCATE audit_events')).rejects.toThrow(REFUSED);
    expect((await query('SELECT 1 FROM audit_events')).length).toBeGreaterThan(0);
  });
});
