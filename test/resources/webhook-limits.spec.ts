import { DataSource } from 'typeorm';
import { type Answer, type Client, expectError, expectSuccess, RowLock, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const URL = 'https://hooks.localhost/shop';
/** The limit of tests that wait. */
const TESTS = 10;

/** Nothing is delivered here: the deliverer looks for the first time in an hour. */
describe('The limits of webhooks, when the last place is wanted twice at once', () => {
  const api = useTestApi({ settings: { MAX_WEBHOOKS: '2' } });
  let admin: Client;

  beforeAll(async () => (admin = api.as(await api.admin())));
  afterEach(() => api.app.nest.get(DataSource).query('DELETE FROM webhooks'));

  const create = () => admin.post('/webhooks', { url: URL, types: ['products'] });
  const idOf = (answer: Answer) => (expectSuccess(answer, 201, 'Created') as { id: number }).id;
  /** Sends both while others hold the lock, and releases it when both wait. */
  const race = async (lock: RowLock, ...requests: (() => Promise<Answer>)[]) => {
    const answers = requests.map((request) => request());
    await lock.awaitedBy(requests.length);
    await lock.release();
    return (await Promise.all(answers)).sort((one, other) => one.status - other.status);
  };
  const expectOneRefused = ([made, refused, ...others]: Answer[]) => {
    expectSuccess(made, 201, 'Created');
    expectError(refused, 'CONFLICT', { fields: { body: 'limit' } });
    expect(others).toEqual([]);
  };
  const waitingTests = async (id: number) => {
    const { body } = await admin.get(`/webhooks/${id}/deliveries?status=PENDING`);
    return (body.data as { id: number }[]).map((delivery) => delivery.id);
  };

  it('makes one webhook of two', async () => {
    idOf(await create());
    expectOneRefused(await race(await RowLock.ofWrites(api.app.databaseUrl, 'webhooks'), create, create));
  });

  it('makes one test of two', async () => {
    const id = idOf(await create());
    const test = () => admin.post(`/webhooks/${id}/deliveries`);
    for (const answer of await Promise.all(times(TESTS - 1, test))) idOf(answer);

    expectOneRefused(await race(await RowLock.of(api.app.databaseUrl, 'webhooks', id), test, test));
    expect(await waitingTests(id)).toHaveLength(TESTS);
  });

  it('sends one of two tests again that have ended, and counts none twice that waits still', async () => {
    const id = idOf(await create());
    const test = () => admin.post(`/webhooks/${id}/deliveries`);
    const ended = [idOf(await test()), idOf(await test())];
    const end = "UPDATE webhook_deliveries SET status = 'DELIVERED', ended_at = now() WHERE webhook_id = $1";
    await api.app.nest.get(DataSource).query(end, [id]);
    for (const answer of await Promise.all(times(TESTS - 1, test))) idOf(answer);

    const again = (delivery: number) => () => admin.post(`/webhooks/${id}/deliveries/${delivery}/attempts`);
    const lock = await RowLock.of(api.app.databaseUrl, 'webhooks', id);
    expectOneRefused(await race(lock, again(ended[0]), again(ended[1])));
    const waiting = await waitingTests(id);
    expect(waiting).toHaveLength(TESTS);
    expectSuccess(await again(waiting[0])(), 201, 'Created');
  });
});
