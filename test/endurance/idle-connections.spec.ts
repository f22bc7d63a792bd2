import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { query, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

/** More than the driver's default for idle connections, 10 s, in milliseconds. */
const QUIET = 12_000;

describe('A connection to PostgreSQL', () => {
  const api = useTestApi();

  it('stays open while nobody asks for anything', async () => {
    const database = api.app.nest.get(DataSource);
    // Each of four statements at once has a connection of its own.
    const asked = times(4, () => database.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid'));
    const pids = (await Promise.all(asked)).map(([{ pid }]) => pid);
    expect(new Set(pids).size).toBe(4);
    await sleep(QUIET);
    const open = await query(api.app.databaseUrl, 'SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)', [pids]);
    expect(open.length).toBe(4);
  });
});
