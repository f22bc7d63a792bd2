import type { Pool } from 'pg';
import { DataSource, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { waitFor } from '../../src/platform/testing';
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

  it.each<[string, (runner: QueryRunner) => Promise<unknown>]>([
    ['connects', (runner) => runner.connect()],
    ['runs its first statement', (runner) => runner.query('SELECT 1')],
  ])('goes back to the pool if its query runner is released while it %s', async (_when, use) => {
    const database = api.app.nest.get(DataSource);
    const runner = database.createQueryRunner();
    const used = use(runner);
    await runner.release();
    await expect(used).rejects.toThrow(QueryRunnerAlreadyReleasedError);
    const { master } = database.driver as unknown as { master: Pool };
    await waitFor(() => master.idleCount === master.totalCount);
  });
});
