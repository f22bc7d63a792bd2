import type { DiscoveryService } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { ReplicaReads } from '../../src/platform/process/replica-reads';
import { replicaOf } from '../../src/platform/replica/reading';
import { createDatabase, dropDatabase, query, times } from '../../src/platform/testing';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
const NO_CONTROLLERS = { getControllers: () => [] } as unknown as DiscoveryService;
const SETTINGS = `SELECT current_setting('jit') AS jit, current_setting('max_parallel_workers_per_gather') AS workers`;

describe('The session of a connection', () => {
  const database = `${TEST_DATABASE_PREFIX}_session_settings`;
  const url = new URL(TEST_SERVER_URL!);
  url.pathname = `/${database}`;

  /** The settings of two connections of a pool: of two statements at once, each has its own. */
  async function settingsOf(options = '', settings = {}): Promise<object[]> {
    const one = new URL(url);
    if (options) one.searchParams.set('options', options);
    const source = new DataSource(dataSourceOptions(readSettings(settings), one.href));
    await source.initialize();
    try {
      return (await Promise.all(times(2, () => source.query<object[]>(SETTINGS)))).flat();
    } finally {
      await source.destroy();
    }
  }

  beforeAll(() => createDatabase(TEST_SERVER_URL!, database));
  afterAll(() => dropDatabase(TEST_SERVER_URL!, database));

  it('compiles no statement, and runs it in one process', async () => {
    const usual = { jit: 'off', workers: '0' };
    expect(await settingsOf()).toMatchObject([usual, usual]);
  });

  it('is set up on the replica, too', async () => {
    const source = new DataSource(dataSourceOptions(readSettings({}), url.href));
    const reads = new ReplicaReads(readSettings({ DATABASE_REPLICA_URL: url.href }), source, NO_CONTROLLERS);
    try {
      const { rows } = await replicaOf(source)!.read({ text: SETTINGS }, () => Promise.reject(new Error('No answer')));
      expect(rows).toEqual([{ jit: 'off', workers: '0' }]);
    } finally {
      await reads.beforeApplicationShutdown();
    }
  });

  it('keeps what the URL says', async () => {
    const chosen = { jit: 'on', workers: '0' };
    expect(await settingsOf('-c jit=on')).toMatchObject([chosen, chosen]);
  });

  it('keeps what the database says', async () => {
    await query(url.href, `ALTER DATABASE ${database} SET max_parallel_workers_per_gather = 3`);
    const chosen = { jit: 'off', workers: '3' };
    expect(await settingsOf()).toMatchObject([chosen, chosen]);
  });

  it('is used as it is where the role may not set it up', async () => {
    await query(url.href, `ALTER DATABASE ${database} RESET max_parallel_workers_per_gather`);
    await query(url.href, 'REVOKE SELECT ON pg_settings FROM PUBLIC');
    const role = `${database}_guest`;
    await query(url.href, `CREATE ROLE ${role} LOGIN`);
    try {
      const own = { jit: 'on', workers: '2' };
      expect(await settingsOf(`-c role=${role}`)).toMatchObject([own, own]);
    } finally {
      await query(url.href, `DROP ROLE ${role}`);
    }
  });

  it('is left alone behind a pooler, which gives it to others', async () => {
    const [{ jit, workers }] = await query(url.href, SETTINGS);
    expect(await settingsOf('', { DATABASE_POOLER: 'transaction' })).toMatchObject([
      { jit, workers },
      { jit, workers },
    ]);
  });
});
