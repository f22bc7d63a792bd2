import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { times } from '../../src/platform/testing';
import { SettledChanges } from '../../src/platform/changes/settled-changes';
import { useTestApi } from '../support/test-api';

const CONNECTIONS = 5;

describe('The last event that is settled', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(CONNECTIONS) } });
  const database = () => api.app.nest.get(DataSource);
  const upTo = () => api.app.nest.get(SettledChanges).upTo();

  async function write(): Promise<number> {
    const [{ id }] = await database().query<{ id: number }[]>(
      "INSERT INTO audit_events (action) VALUES ('WRITTEN') RETURNING id",
    );
    return id;
  }

  /** Runs short transactions of another database, which events wait for, one after the other. */
  async function busy(isOver: () => boolean): Promise<void> {
    const url = new URL(api.app.databaseUrl);
    url.pathname = '/postgres';
    const client = new Client({ connectionString: url.href });
    await client.connect();
    while (!isOver()) await client.query('BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(0.06); COMMIT');
    await client.end();
  }

  it('is that of the last write, also after a look that had to wait for a connection', async () => {
    let isOver = false;
    const others = times(3, () => busy(() => isOver));
    await write();
    await upTo();
    const sleeping = times(2 * CONNECTIONS, () => database().query('SELECT pg_sleep(0.4)'));
    await Promise.all([...sleeping, upTo()]);
    const id = await write();
    const settled = await upTo();
    isOver = true;
    await Promise.all(others);

    expect(settled).toBeGreaterThanOrEqual(id);
  });
});
