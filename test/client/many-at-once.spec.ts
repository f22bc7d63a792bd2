import { builtClient, describeCalls } from '../support/client';
import { useGateway } from '../support/gateway';
import { useTestApi } from '../support/test-api';

const { createClient, isApiError, memoryStore } = builtClient();
const QUICK = { firstDelay: 1, longestDelay: 5 };

describeCalls('Many items at once by the client', () => {
  const api = useTestApi();
  const gateway = useGateway(() => api.url);
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    const { token, refreshToken } = await api.admin();
    const store = memoryStore({ accessToken: token, accessExpiresAt: Infinity, refreshToken });
    client = createClient({ url: gateway.url, store, retry: QUICK });
  });

  const cups = (...names: string[]) => names.map((name) => ({ name, price: 5 }));
  const countOf = async (search: string) => (await client.products.list({ search, total: true })).pagination.total;

  it('creates all inputs once, through a lost answer, in their order', async () => {
    gateway.next('after', 'before');
    const made = await client.products.createAll(cups('Lost c', 'Lost a', 'Lost b'));

    expect(made.map(({ name }: { name: string }) => name)).toEqual(['Lost c', 'Lost a', 'Lost b']);
    expect(gateway.asked).toEqual(['POST /products', 'POST /products', 'POST /products']);
    expect(await countOf('Lost ')).toBe(3);
  });

  it('creates none if one is wrong, and names it by its position', async () => {
    const inputs = [...cups('None a'), { name: 'None b', price: -1 }];

    await expect(client.products.createAll(inputs)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      fields: [{ field: '1.price' }],
    });
    expect(await countOf('None ')).toBe(0);
  });

  it('creates each that is right, and has the error of each other, once through a lost answer', async () => {
    gateway.next('after');
    const inputs = [...cups('Each a'), { name: 'Each b', price: -1 }, ...cups('Each c')];
    const [first, second, third] = await client.products.createEach(inputs);

    expect([first.data.name, third.data.name]).toEqual(['Each a', 'Each c']);
    expect(second.data).toBeUndefined();
    expect(isApiError(second.error)).toBe(true);
    expect(second.error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', fields: [{ field: 'price' }] });
    expect(await countOf('Each ')).toBe(2);
  });

  it('has the same results for the same key of a program that was started again', async () => {
    const options = { idempotencyKey: 'import-of-cups' };
    const made = await client.products.createEach(cups('Again a', 'Again b'), options);

    expect(await client.products.createEach(cups('Again a', 'Again b'), options)).toEqual(made);
    expect(await countOf('Again ')).toBe(2);
  });
});
