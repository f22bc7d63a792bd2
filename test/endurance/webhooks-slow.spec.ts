import { type Client, expectSuccess, times, waitFor } from '../../src/platform/testing';
import { aPost, aProduct } from '../support/builders';
import { everythingSettled } from '../support/feed';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, WebhookReceiver } from '../support/webhook-receiver';

/** As many as may have all places of a process: each has a quarter. */
const DEAD = 6;
const BACKLOG = 40;
const TURNS = 5;
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
  const expectPostSoon = async () => {
    const { id } = expectSuccess(await admin.post('/posts', aPost()), 201, 'Created') as { id: number };
    await waitFor(() => alive.accepted.some(({ body }) => body.data.id === id), SOON);
  };

  it('keep those that answer waiting for no longer than a moment', async () => {
    await everythingSettled(api);
    await create(alive.url, 'posts');
    await expectPostSoon();
    await Promise.all(times(DEAD, () => create(dead.url, 'products')));
    for (const body of times(BACKLOG, () => aProduct())) expect((await admin.post('/products', body)).status).toBe(201);
    await waitFor(() => dead.received.length >= DEAD);

    for (let turn = 0; turn < TURNS; turn++) await expectPostSoon();
    // And later, when some have been tried several times.
    await waitFor(() => dead.received.length >= 4 * DEAD, 60_000);
    for (let turn = 0; turn < TURNS; turn++) await expectPostSoon();
  }, 180_000);
});
