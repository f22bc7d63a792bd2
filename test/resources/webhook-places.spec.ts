import { DataSource } from 'typeorm';
import { claim } from '../../src/resources/webhooks/claims';
import { useTestApi } from '../support/test-api';

/** Nothing is delivered here but by the test: the deliverer looks for the first time in an hour. */
describe('The places of a process', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  afterEach(() => database().query('DELETE FROM webhooks'));

  const add = async (deliveries: number, target: Pick<DataSource, 'query'> = database()): Promise<number> => {
    const [{ id }] = await target.query<{ id: number }[]>(
      "INSERT INTO webhooks (url, types, secret) VALUES ('https://hooks.localhost/', '{products}', '') RETURNING id",
    );
    const text = `INSERT INTO webhook_deliveries (webhook_id, type, resource_id, change, changed_at)
      SELECT $1, 'products', number, 'UPDATED', now() FROM generate_series(1, $2::integer) AS number`;
    await target.query(text, [id, deliveries]);
    return id;
  };
  interface Places {
    free: number;
    busy?: [number, number][];
    quick?: number[];
    ofOthers?: number;
  }

  const take = async (options: Places, target: Pick<DataSource, 'query'> = database()) => {
    const { free, busy = [], quick = [], ofOthers = 9 } = options;
    const claimed = await claim(target, { free, share: 4, lease: 1_000, busy: new Map(busy), quick, ofOthers });
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

  it('are taken for deliveries that are due at this moment', async () => {
    const taken = () =>
      database().transaction(async (manager) => {
        const id = await add(1, manager);
        return (await take({ free: 1 }, manager)).get(id);
      });
    for (let time = 0; time < 20; time++) expect(await taken()).toBe(1);
  });
});
