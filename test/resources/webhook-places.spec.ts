import { DataSource } from 'typeorm';
import { claim } from '../../src/resources/webhooks/claims';
import { useTestApi } from '../support/test-api';

/** Nothing is delivered here but by the test: the deliverer looks for the first time in an hour. */
describe('The places of a process', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  afterEach(() => database().query('DELETE FROM webhooks'));

  const add = async (deliveries: number): Promise<number> => {
    const [{ id }] = await database().query<{ id: number }[]>(
      "INSERT INTO webhooks (url, types, secret) VALUES ('https://hooks.localhost/', '{products}', '') RETURNING id",
    );
    const text = `INSERT INTO webhook_deliveries (webhook_id, type, resource_id, change, changed_at)
      SELECT $1, 'products', number, 'UPDATED', now() FROM generate_series(1, $2::integer) AS number`;
    await database().query(text, [id, deliveries]);
    return id;
  };
  const take = async (options: { free: number; busy?: [number, number][]; quick?: number[]; ofOthers?: number }) => {
    const { free, busy = [], quick = [], ofOthers = 9 } = options;
    const claimed = await claim(database(), { free, share: 4, lease: 1_000, busy: new Map(busy), quick, ofOthers });
    const numbers = new Map<number, number>();
    for (const { webhook_id } of claimed) numbers.set(webhook_id, (numbers.get(webhook_id) ?? 0) + 1);
    return numbers;
  };

  it('are taken in turns', async () => {
    const ids = [await add(9), await add(9), await add(9)];
    expect(await take({ free: 6 })).toEqual(new Map(ids.map((id) => [id, 2])));
  });

  it('go to the webhook that has the fewest', async () => {
    const [busy, idle] = [await add(9), await add(1)];
    expect(await take({ free: 1, busy: [[busy, 3]] })).toEqual(new Map([[idle, 1]]));
  });

  it('are kept for receivers that are quick, when the others have had theirs', async () => {
    const [one, another, quick] = [await add(9), await add(9), await add(9)];
    const places = await take({ free: 9, quick: [quick], ofOthers: 0 });
    expect(places).toEqual(new Map([[quick, 4]]));
    const more = await take({ free: 9, busy: [[another, 2]], quick: [quick], ofOthers: 1 });
    expect([more.get(one), more.get(another), more.get(quick)]).toEqual([1, undefined, 4]);
  });
});
