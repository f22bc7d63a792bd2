import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { SigningKeys } from '../../src/platform/accounts';
import { waitFor } from '../../src/platform/testing';
import { Deliverer } from '../../src/resources/webhooks/deliverer';
import { SecretSeal } from '../../src/resources/webhooks/secret-seal';
import { WebhookSettings } from '../../src/resources/webhooks/webhook-settings';
import { WebhookUpkeep } from '../../src/resources/webhooks/webhook-upkeep';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver } from '../support/webhook-receiver';

const sealBy = (...keys: Buffer[]) => new SecretSeal({ derive: () => keys } as unknown as SigningKeys);

describe('The upkeep of webhooks', () => {
  const api = useTestApi({ deliverAfter: 0, settings: TO_LOOPBACK });
  const receiver = useReceiver();
  const database = () => api.app.nest.get(DataSource);
  afterEach(() => database().query('DELETE FROM webhooks'));

  const add = async (columns: Record<string, unknown> = {}): Promise<number> => {
    const row = {
      url: receiver.current.url,
      types: ['products'],
      status: 'ACTIVE',
      secret: randomBytes(60),
      ...columns,
    };
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    const text = `INSERT INTO webhooks (${Object.keys(row).join()}) VALUES (${places.join()}) RETURNING id`;
    return (await database().query(text, Object.values(row)))[0].id as number;
  };
  const deliver = (webhook: number, ended: string | null) =>
    database().query(
      `INSERT INTO webhook_deliveries (webhook_id, type, resource_id, change, changed_at, status, ended_at, due_at)
         VALUES ($1, 'products', 1, 'UPDATED', now(), $2, $3, now() + interval '1 day')`,
      [webhook, ended ? 'DELIVERED' : 'PENDING', ended && new Date(Date.now() - Number(ended) * 86_400_000)],
    );

  it('removes deliveries that ended before WEBHOOK_DELIVERY_RETENTION, and leaves those that are to be sent', async () => {
    const id = await add({ status: 'PAUSED' });
    for (const ended of ['8', '7.1', '6.9', null]) await deliver(id, ended);

    expect(await api.app.nest.get(WebhookUpkeep).run()).toBe(2);
    expect((await database().query('SELECT count(*)::integer AS left FROM webhook_deliveries'))[0].left).toBe(2);
  });

  it('seals secrets by the current key, and forgets those whose time is over', async () => {
    const [old, current] = [randomBytes(32), randomBytes(32)];
    const [secret, previous] = [randomBytes(32), randomBytes(32)];
    const of = (until: string) => ({
      ...{ status: 'PAUSED', secret: sealBy(old).seal(secret), previous_secret: sealBy(old).seal(previous) },
      previous_secret_until: until,
    });
    const ids = [await add(of('2100-01-01')), await add(of('2020-01-01'))];
    await new WebhookUpkeep(database(), new WebhookSettings(), sealBy(current, old)).run();
    const read = 'SELECT secret, previous_secret AS previous FROM webhooks WHERE id = ANY($1) ORDER BY id';
    const [kept, over] = await database().query(read, [ids]);

    const now = sealBy(current);
    expect([kept.secret, kept.previous, over.secret].map((one) => now.open(one))).toEqual([secret, previous, secret]);
    expect(over.previous).toBeNull();
    expect(sealBy(old).open(kept.secret)).toBeUndefined();
  });

  it('leaves what no key opens: its deliveries fail, and the log says what to do', async () => {
    const admin = api.as(await api.admin());
    const id = await add();
    await database().query('INSERT INTO webhook_progress VALUES ($1, 0, now())', [id]);
    // It looks in ten seconds again, because it has found no webhook, and those of SQL don't wake it.
    api.app.nest.get(Deliverer, { strict: false }).wake();
    expect((await admin.post('/products', aProduct())).status).toBe(201);
    const failed = async () =>
      (await database().query('SELECT failure FROM webhook_deliveries WHERE webhook_id = $1', [id]))[0]?.failure;
    await waitFor(async () => (await failed()) === 'INTERNAL');

    expect(receiver.current.received).toEqual([]);
    const lines = api.app.log.filter(({ msg }) => msg === 'A delivery could not be made');
    expect(JSON.stringify(lines[0])).toContain('give the webhook a new one');
  });
});
