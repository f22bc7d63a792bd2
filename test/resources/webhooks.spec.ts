import { DataSource } from 'typeorm';
import { type Client, expectError, expectSuccess, waitFor } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { documentOf } from '../support/contract';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver, verify } from '../support/webhook-receiver';

interface Hook {
  id: number;
  version: number;
  status: string;
  secret: string;
}

interface Delivery {
  id: number;
  type: string;
  resource_id: number;
  change: string;
  status: string;
  attempts: number;
  response_status: number | null;
  failure: string | null;
  next_attempt_at: string | null;
}

describe('Webhooks', () => {
  const api = useTestApi({ deliverAfter: 0, settings: { ...TO_LOOPBACK, MAX_WEBHOOKS: '3' } });
  const receiver = useReceiver();
  let admin: Client;

  beforeAll(async () => (admin = api.as(await api.admin())));
  afterEach(() => api.app.nest.get(DataSource).query('DELETE FROM webhooks'));

  const create = async (input: object = {}): Promise<Hook> => {
    const body = { url: receiver.current.url, types: ['products'], ...input };
    return expectSuccess(await admin.post('/webhooks', body), 201, 'Created') as Hook;
  };
  const product = async (): Promise<number> =>
    (expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number }).id;
  const deliveries = async ({ id }: Hook): Promise<Delivery[]> => {
    const { status, body } = await admin.get(`/webhooks/${id}/deliveries`);
    expect(status).toBe(200);
    return body.data as Delivery[];
  };
  const accepted = () => receiver.current.accepted.map(({ body: { data } }) => `${data.id} ${data.change}`);

  it('sends each change of its types with the resource, in order and signed', async () => {
    await product();
    const hook = await create();
    const id = await product();
    expectSuccess(await admin.patch(`/products/${id}`, { stock: 5 }));
    await admin.delete(`/products/${id}`);
    await waitFor(() => receiver.current.accepted.length === 3);

    expect(accepted()).toEqual([`${id} CREATED`, `${id} UPDATED`, `${id} DELETED`]);
    const [first, , last] = receiver.current.received;
    first.body.data.resource ??= { id };
    expect(first.body).toEqual({
      type: 'products.created',
      timestamp: first.body.data.at,
      // The resource as it is when it is sent: by then it may be gone.
      data: {
        type: 'products',
        id,
        change: 'CREATED',
        version: 1,
        at: expect.any(String),
        resource: expect.anything(),
      },
    });
    expect(last.body.data.resource).toBeNull();
    const document = documentOf('1');
    const { schema } = document.json.webhooks.change.post.requestBody.content['application/json'];
    for (const one of receiver.current.received) {
      verify(hook.secret, one);
      expect(document.violations(schema, one.body)).toEqual([]);
    }
    await waitFor(async () => (await deliveries(hook)).every(({ status }) => status === 'DELIVERED'));
    const [delivery] = await deliveries(hook);
    expect(first.headers['webhook-id']).toBe(`delivery_${delivery.id}`);
    expect(delivery).toMatchObject({ type: 'products', resource_id: id, attempts: 1, response_status: 204 });
  });

  it('has the resource as an administrator sees it', async () => {
    await create({ types: ['products', 'posts'] });
    const id = await product();
    const text = { title: 'T', content: 'C', status: 'DRAFT' };
    const draft = expectSuccess(await admin.post('/posts', text), 201, 'Created');
    await waitFor(() => receiver.current.accepted.length === 2);

    const shown = receiver.current.received.map(({ body }) => body.data.resource);
    expect(shown).toEqual(
      expect.arrayContaining([expect.objectContaining({ id, stock: 10 }), expect.objectContaining(draft as object)]),
    );
  });

  it('tries again with the same id, and holds the next change of the resource back until then', async () => {
    const hook = await create();
    const refused = new Set<string>();
    receiver.current.answer = ({ headers }) => {
      const id = String(headers['webhook-id']);
      if (refused.has(id)) return 200;
      refused.add(id);
      return 500;
    };
    const [one, other] = [await product(), await product()];
    for (const id of [one, other]) expectSuccess(await admin.patch(`/products/${id}`, { stock: 7 }));
    await waitFor(() => receiver.current.accepted.length === 4);

    const of = (id: number) => accepted().filter((text) => text.startsWith(`${id} `));
    expect(of(one)).toEqual([`${one} CREATED`, `${one} UPDATED`]);
    expect(of(other)).toEqual([`${other} CREATED`, `${other} UPDATED`]);
    expect(receiver.current.received).toHaveLength(8);
    await waitFor(async () =>
      (await deliveries(hook)).every(({ attempts, status }) => attempts === 2 && status === 'DELIVERED'),
    );
  });

  it('sends a quarter of what a process sends at once to one receiver, so that a slow one leaves room for others', async () => {
    const held = receiver.current.hold();
    const hook = await create();
    for (let number = 0; number < 10; number++) await product();
    await waitFor(() => held.length === 4);
    const taken = async () => (await deliveries(hook)).filter(({ attempts }) => attempts > 0).length;
    await waitFor(async () => (await deliveries(hook)).length === 10);
    expect(await taken()).toBe(4);

    held.splice(0, 1)[0]();
    await waitFor(() => held.length === 4);
    expect(await taken()).toBe(5);
    receiver.current.answer = () => 204;
    for (const answer of held) answer();
    await waitFor(() => receiver.current.accepted.length === 10);
  });

  it('follows no redirect, and keeps nothing of an answer but the status', async () => {
    const hook = await create();
    receiver.current.answer = (received, response) => {
      received.status = 302;
      response.writeHead(302, { Location: receiver.current.url, 'Set-Cookie': 'a=secret' }).end('x'.repeat(100_000));
      return undefined;
    };
    await product();
    await waitFor(async () => (await deliveries(hook)).some(({ failure }) => failure !== null));

    const [delivery] = await deliveries(hook);
    expect(delivery).toMatchObject({ status: 'PENDING', response_status: 302, failure: 'STATUS' });
    expect(JSON.stringify(delivery)).not.toContain('secret');
  });

  it('shows its secret once, and keeps it out of the database, the audit and the log', async () => {
    const hook = await create();
    const bytes = Buffer.from(hook.secret.slice('whsec_'.length), 'base64');
    expect(bytes).toHaveLength(32);
    expectSuccess(await admin.patch(`/webhooks/${hook.id}`, { description: 'The mirror' }));

    expect(expectSuccess(await admin.get(`/webhooks/${hook.id}`))).not.toHaveProperty('secret');
    const [row] = await api.app.nest.get(DataSource).query('SELECT secret FROM webhooks WHERE id = $1', [hook.id]);
    expect(row.secret.includes(bytes)).toBe(false);
    const { body } = await admin.get(`/audit-events?resource=webhooks&resource_id=${hook.id}`);
    expect(body.data).toMatchObject([
      { action: 'CREATED', concealed: ['secret'] },
      { action: 'UPDATED', concealed: [] },
    ]);
    for (const text of [JSON.stringify(body), JSON.stringify(api.app.log)]) {
      expect(text).not.toContain(hook.secret.slice('whsec_'.length));
      expect(text).not.toContain(row.secret.toString('hex'));
    }
  });

  it('signs by both secrets after a rotation, and by the new one alone when the time of the old one is over', async () => {
    const hook = await create();
    const rotated = expectSuccess(await admin.post(`/webhooks/${hook.id}/secrets`), 201, 'Created') as Hook;
    await product();
    await waitFor(() => receiver.current.accepted.length === 1);
    const [both] = receiver.current.received;
    expect(both.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    for (const secret of [hook.secret, rotated.secret]) expect(verify(secret, both)).toEqual(both.body);

    await api.app.nest.get(DataSource).query("UPDATE webhooks SET previous_secret_until = now() - interval '1 second'");
    await product();
    await waitFor(() => receiver.current.accepted.length === 2);
    const [, one] = receiver.current.received;
    expect(verify(rotated.secret, one)).toEqual(one.body);
    expect(() => verify(hook.secret, one)).toThrow('No matching signature');
  });

  it('sends nothing while it is paused, and what has changed meanwhile afterwards', async () => {
    const hook = await create({ status: 'PAUSED' });
    const other = await create();
    const id = await product();
    await waitFor(() => receiver.current.accepted.length === 1);
    expect(await deliveries(hook)).toEqual([]);

    expectSuccess(await admin.patch(`/webhooks/${hook.id}`, { status: 'ACTIVE' }));
    await waitFor(() => receiver.current.accepted.length === 2);
    expect(accepted()).toEqual([`${id} CREATED`, `${id} CREATED`]);
    expect(await deliveries(other)).toHaveLength(1);
  });

  it('is tested by a delivery of its own, unless it is paused', async () => {
    const hook = await create();
    const test = expectSuccess(await admin.post(`/webhooks/${hook.id}/deliveries`), 201, 'Created') as Delivery;
    expect(test).toMatchObject({ change: 'TEST', status: 'PENDING' });
    await waitFor(() => receiver.current.accepted.length === 1);
    expect(receiver.current.received[0].body).toMatchObject({
      type: 'webhooks.test',
      data: { type: 'webhooks', id: hook.id, change: 'TEST', version: null, resource: null },
    });

    expectSuccess(await admin.patch(`/webhooks/${hook.id}`, { status: 'PAUSED' }));
    expectError(await admin.post(`/webhooks/${hook.id}/deliveries`), 'CONFLICT', { fields: { status: 'transition' } });
  });

  it('sends a delivery again, delivered or given up', async () => {
    const hook = await create();
    await product();
    await waitFor(() => receiver.current.accepted.length === 1);
    await waitFor(async () => (await deliveries(hook))[0].status === 'DELIVERED');
    const [{ id }] = await deliveries(hook);
    const repeat = () => admin.post(`/webhooks/${hook.id}/deliveries/${id}/attempts`);
    expectSuccess(await repeat(), 201, 'Created');
    await waitFor(() => receiver.current.accepted.length === 2);
    await waitFor(async () => (await deliveries(hook))[0].attempts === 2);

    const database = api.app.nest.get(DataSource);
    await waitFor(async () => (await deliveries(hook))[0].status === 'DELIVERED');
    await database.query("UPDATE webhook_deliveries SET status = 'FAILED', begun_at = now() - interval '4 days'");
    expectSuccess(await repeat(), 201, 'Created');
    await waitFor(async () => (await deliveries(hook))[0].status === 'DELIVERED');
    expect(receiver.current.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array(3).fill(`delivery_${id}`),
    );
    expectError(await admin.post(`/webhooks/${hook.id}/deliveries/${id + 1_000}/attempts`), 'NOT_FOUND');
    expectError(await admin.post(`/webhooks/${hook.id + 1_000}/deliveries/${id}/attempts`), 'NOT_FOUND');
  });

  it('gives a delivery up after three days, and then sends the next one', async () => {
    const hook = await create();
    receiver.current.answer = ({ body }) => (body.data.change === 'CREATED' ? 500 : 200);
    const id = await product();
    expectSuccess(await admin.patch(`/products/${id}`, { stock: 9 }));
    await waitFor(async () => (await deliveries(hook))[0]?.failure === 'STATUS');
    await waitFor(async () => (await deliveries(hook)).length === 2);
    expect((await deliveries(hook)).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    const age =
      "UPDATE webhook_deliveries SET begun_at = now() - interval '73 hours', due_at = now() WHERE change = 'CREATED'";
    await api.app.nest.get(DataSource).query(age);

    await waitFor(() => receiver.current.accepted.length === 1);
    expect(accepted()).toEqual([`${id} UPDATED`]);
    await waitFor(async () => (await deliveries(hook))[1].status === 'DELIVERED');
    expect((await deliveries(hook))[0]).toMatchObject({
      status: 'FAILED',
      response_status: 500,
      next_attempt_at: null,
    });
  });

  it('is disabled after days without a success, and an audit event says so', async () => {
    const hook = await create();
    receiver.current.answer = () => 503;
    await product();
    await waitFor(async () => (await deliveries(hook))[0]?.failure === 'STATUS');
    const database = api.app.nest.get(DataSource);
    await database.query("UPDATE webhook_progress SET failing_since = now() - interval '121 hours'");
    const status = async () => (expectSuccess(await admin.get(`/webhooks/${hook.id}`)) as Hook).status;
    await waitFor(async () => (await status()) === 'DISABLED');

    const { body } = await admin.get(`/audit-events?resource=webhooks&resource_id=${hook.id}&order=desc`);
    expect(body.data[0]).toMatchObject({ action: 'WEBHOOK_DISABLED', user_id: null });
    expect(body.data[1]).toMatchObject({ action: 'UPDATED', after: { status: 'DISABLED' }, user_id: null });
    receiver.current.answer = () => 200;
    expectSuccess(await admin.patch(`/webhooks/${hook.id}`, { status: 'ACTIVE' }));
    await waitFor(async () => (await deliveries(hook))[0].status === 'DELIVERED');
  });

  it('is refused above the limit, with an unknown type, and with a URL that nothing is sent to', async () => {
    const to = (url: string) => admin.post('/webhooks', { url, types: ['products'] });
    for (const host of ['10.0.0.1', '[::1]', '169.254.169.254', '0x7f.1.2.3:22', '127.0.0.1:25']) {
      expectError(await to(`http://${host}/`), 'VALIDATION_ERROR', { fields: { url: 'target' } });
    }
    expectError(await to('https://user:word@example.com/'), 'VALIDATION_ERROR', { fields: { url: 'url' } });
    const unknown = { url: receiver.current.url, types: ['products', 'sessions'] };
    expectError(await admin.post('/webhooks', unknown), 'VALIDATION_ERROR', { fields: { types: 'enum' } });
    for (let number = 0; number < 3; number++) await create();
    expectError(await to(receiver.current.url), 'CONFLICT', { fields: { body: 'limit' } });
  });
});
