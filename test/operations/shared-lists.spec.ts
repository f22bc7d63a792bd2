import { DataSource } from 'typeorm';
import { RowLock, times } from '../../src/platform/testing';
import { sharedLane } from '../../src/platform/lists/list-lane';
import { sharedRead } from '../../src/platform/rows/shared-read';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { useTestApi } from '../support/test-api';

/** Each run of it has another result. */
const RUN = { text: 'SELECT gen_random_uuid() AS run' };
/** The places for lists. */
const PLACES = 8;

describe('A list that callers of several networks ask for in one turn of the event loop', () => {
  const api = useTestApi({ settings: { API_DOCS: 'false' } });

  /** The runs of the statement that three callers get, of which the last two are of one network. */
  async function runs(): Promise<unknown[]> {
    const database = api.app.nest.get(DataSource);
    const callers = ['10.1.0.1', '10.2.0.1', '10.2.0.1'].map((ip) =>
      Object.assign(new UnitOfWork(), { origin: { ip } }),
    );
    const answers = callers.map((unit) => sharedRead<{ run: string }>(database, RUN, sharedLane(database, unit)));
    return (await Promise.all(answers)).map(([{ run }]) => run);
  }

  it('is read once, if it begins at once', async () => {
    expect(new Set(await runs()).size).toBe(1);
  });

  it('is read once for each network, if it waits: nobody waits in the queue of another', async () => {
    const database = api.app.nest.get(DataSource);
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const held = times(PLACES, (index) => {
      const unit = Object.assign(new UnitOfWork(), { origin: { ip: `10.3.${index}.1` } });
      const statement = { text: 'SELECT $1::int FROM products', values: [index] };
      return sharedRead(database, statement, sharedLane(database, unit));
    });
    await lock.awaitedBy(PLACES);
    const waiting = runs();
    await lock.release();
    const [first, second, third] = await waiting;
    await Promise.all(held);

    expect(first).not.toBe(second);
    expect(third).toBe(second);
  });
});
