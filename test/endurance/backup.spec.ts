import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_PASSWORD } from '../../src/demo/content';
import { createDatabase, dropDatabase, waitFor } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { type Acknowledged, BackupLoad, creations } from '../support/backup-load';
import { DemoClient } from '../support/demo-client';
import { binaries, describeWithPostgres, PostgresCluster } from '../support/postgres-cluster';
import { runShell, shellBlocks } from '../support/shell-blocks';

const PATIENCE = 120_000;
const ENOUGH = 150;
const ENOUGH_UPLOADS = 10;

describeWithPostgres('A backup by the commands of docs/operations.md, taken under load', () => {
  const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
  const name = `${TEST_DATABASE_PREFIX}_restored_${process.pid}`;
  const [backup, restore] = shellBlocks(readFileSync('docs/operations.md', 'utf8'), '## Backup');
  let directory: string;
  let source: PostgresCluster;
  let restored: BuiltService;
  /** What was acknowledged before the dump began. */
  let before: Acknowledged;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'resource-api-backup-'));
    source = await PostgresCluster.start();
    const env = {
      PATH: `${binaries}:${process.env.PATH}`,
      DATABASE_URL: await source.createDatabase('source'),
      DATA_DIR: join(directory, 'data'),
      BACKUP: join(directory, 'backup'),
      RESTORED_URL: await createDatabase(TEST_SERVER_URL!, name),
      RESTORED_DATA_DIR: join(directory, 'restored'),
    };
    mkdirSync(env.BACKUP);
    const limits = {
      MIN_FREE_DISK: '0',
      WRITE_QUOTA: '0',
      MAX_OPEN_ORDERS: '1000000',
      DEMO_DATA: 'true',
      LOG_LEVEL: 'info',
    };
    const service = await BuiltService.start({ ...limits, DATABASE_URL: env.DATABASE_URL, DATA_DIR: env.DATA_DIR });
    const load = await BackupLoad.start(service.url, DEMO_PASSWORD);
    await waitFor(() => load.rows >= ENOUGH && load.uploads >= ENOUGH_UPLOADS, PATIENCE);
    before = load.acknowledged();
    await runShell(backup, env);
    const during = load.rows - before.rows.length;
    await load.stop();
    await service.stop();
    expect(during).toBeGreaterThan(0);

    await runShell(restore, env);
    restored = await BuiltService.start({ ...limits, DATABASE_URL: env.RESTORED_URL, DATA_DIR: env.RESTORED_DATA_DIR });
  }, 4 * PATIENCE);

  afterAll(async () => {
    await restored?.stop();
    await dropDatabase(TEST_SERVER_URL!, name);
    await source?.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  it('has every row that was acknowledged before', async () => {
    const reader = await DemoClient.signIn(restored.url, 'grace', DEMO_PASSWORD);
    const lost: string[] = [];
    for (const { path, text } of before.rows) {
      const answer = await reader.get(path);
      if (answer.status !== 200 || !JSON.stringify(answer.data).includes(text)) lost.push(path);
    }

    expect(before.rows.length).toBeGreaterThanOrEqual(ENOUGH);
    expect(lost).toEqual([]);
  });

  it('has every upload that was finished before, byte by byte', async () => {
    const reader = await DemoClient.signIn(restored.url, 'grace', DEMO_PASSWORD);
    const found = await Promise.all(before.uploads.map(({ path }) => reader.checksum(`${path}/content`)));

    expect(before.uploads.length).toBeGreaterThanOrEqual(ENOUGH_UPLOADS);
    expect(found).toEqual(before.uploads.map(({ checksum }) => checksum));
  });

  it('counts and numbers on from what it has', async () => {
    const writer = await DemoClient.signIn(restored.url, 'grace', DEMO_PASSWORD);
    for (const [path, body] of creations('after the restore')) {
      const { total, highest } = await writer.summary(path);
      const made = await writer.post(path, body);

      expect(made.status).toBe(201);
      expect(made.data.id).toBeGreaterThan(highest);
      expect((await writer.summary(path)).total).toBe(total + 1);
    }
  });

  it('knows no session of before: everybody signs in again', async () => {
    const { status } = await fetch(`${restored.url}/api/v1/users/profile`, {
      headers: { Authorization: `Bearer ${before.token}` },
    });

    expect(status).toBe(401);
  });
});
