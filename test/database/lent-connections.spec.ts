import { CancellablePool } from '../../src/platform/transactions/cancellable-pool';
import { fatalError } from '../support/postgres-impersonator';
import { TcpProxy } from '../support/tcp-proxy';
import { useTestApi } from '../support/test-api';

const SHUTDOWN = '57P01';

describe('A lent connection', () => {
  const api = useTestApi();
  const proxy = new TcpProxy();
  let pool: CancellablePool;

  beforeAll(async () => {
    pool = new CancellablePool({ connectionString: await proxy.start(api.app.databaseUrl), max: 1 });
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    proxy.stop();
  });

  it('may be ended right behind the statement of its last user', async () => {
    const statement = 'SELECT 1 AS ends_here';
    proxy.endAfterAnswerTo(statement, fatalError(SHUTDOWN));
    // The pool lends the connection while the driver still reads what has come in.
    const last = pool.query(statement);
    const lent = pool.connect();
    await last;
    const client = await lent;

    await expect(client.query('SELECT 2')).rejects.toThrow(/not queryable|terminated/);
    client.release();
    expect((await pool.query('SELECT 3 AS three')).rows).toEqual([{ three: 3 }]);
  });
});
