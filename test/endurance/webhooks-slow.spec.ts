import { type Client, expectSuccess, times, waitFor } from '../../src/platform/testing';
import { aPost, aProduct } from '../support/builders';
import { everythingSettled } from '../support/feed';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, WebhookReceiver } from '../support/webhook-receiver';

/** As many as may have all places of a process: each has a quarter. */
const DEAD = 6;
const BACKLOG = 40;
/** Far less than the ten seconds for which a dead receiver keeps a place. */
const SOON = 3_000;

describe('Receivers that never answer', () => {
  const api = useTestApi({ deliverAfter: 0, settings: TO_LOOPBACK });
  let admin: Client;
  let dead: WebhookReceiver;
  let alive: WebhookReceiver;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    [dead, alive] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
    dead.answer = () => undefined;
  });
  afterAll(() => Promise.all([dead.stop(), alive.stop()]));

  const create = async (url: string, type: string) =>
    expectSuccess(await admin.post('/webhooks', { url, types: [type] }), 201, 'Created') as { id: number };
  const attemptsOf = async ({ id }: { id: number }) => {
    const { body } = await admin.get(`/webhooks/${id}/deliveries?sort=updated_at&order=desc`);
    return (body.data as { failure: string | null }[]).filter(({ failure }) => failure !== null).length;
  };

  it('keep those that answer waiting for no longer than a moment', async () => {
    await everythingSettled(api);
    const hooks = await Promise.all(times(DEAD, () => create(dead.url, 'products')));
    await create(alive.url, 'posts');
    for (const body of times(BACKLOG, () => aProduct())) expect((await admin.post('/products', body)).status).toBe(201);
    // All of them are known by then.
    await waitFor(async () => (await Promise.all(hooks.map(attemptsOf))).every((number) => number > 0), 120_000);

    for (let turn = 0; turn < 10; turn++) {
      const { id } = expectSuccess(await admin.post('/posts', aPost()), 201, 'Created') as { id: number };
      await waitFor(() => alive.accepted.some(({ body }) => body.data.id === id), SOON);
    }
  }, 180_000);
});
