import { describeCalls } from '../support/client';
import { useGateway } from '../support/gateway';
import { rushOfOrders } from '../support/rush-of-orders';
import { useTestApi } from '../support/test-api';

const COUNT = 50;
const SEED = 20_261;

describeCalls('The client, through a proxy that breaks connections', () => {
  const api = useTestApi({ settings: { MAX_OPEN_ORDERS: '1000000' } });
  const gateway = useGateway(() => api.url);

  it(`makes each of ${COUNT} orders exactly once`, async () => {
    const { told, made, taken, broken } = await rushOfOrders(api, gateway, COUNT, SEED);

    expect(new Set(told).size).toBe(COUNT);
    expect(made).toEqual(told);
    expect(taken).toBe(COUNT);
    // That connections broke is what this is about.
    expect(broken).toBeGreaterThan(COUNT / 10);
  }, 300_000);
});
