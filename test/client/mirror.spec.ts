import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../src/platform/testing';
import { ChangesLoad } from '../support/changes-load';
import { builtClient, describeCalls } from '../support/client';
import { useGateway } from '../support/gateway';
import { generator } from '../support/mutated-text';
import { usePackedClient } from '../support/packed-client';
import { useTestApi } from '../support/test-api';

const { createClient, memoryStore } = builtClient();
const TYPES = ['products', 'posts', 'comments'];
const WRITERS = 6;
const STARTS = 8;
/** Changes of the writers between a start and the kill. */
const MOST_CHANGES = 600;
const SEED = 20_263;

type Rows = Record<string, Record<string, object>>;

describeCalls('A mirror in thirty lines', () => {
  const api = useTestApi({ settings: { DEMO_DATA: 'true' } });
  const gateway = useGateway(() => api.url);
  const { directory, write, node, start } = usePackedClient();
  const random = generator(SEED);
  const script = readFileSync('client/examples/mirror.mjs', 'utf8');
  const file = (folder: string) => join(directory, folder, 'mirror.json');

  beforeAll(() => write('mirror.mjs', script));

  const read = (folder: string) => JSON.parse(readFileSync(file(folder), 'utf8')) as { mark: string; rows: Rows };
  const rowsIn = (folder: string): Rows => read(folder).rows;
  /** A file that is there is whole, whenever its writer was killed. */
  const markIn = (folder: string): string | undefined => (existsSync(file(folder)) ? read(folder).mark : undefined);
  const runOnce = (folder: string) => node('mirror.mjs', gateway.url, folder, 'once');

  function folderOf(name: string): string {
    mkdirSync(join(directory, name));
    return name;
  }

  async function source(): Promise<Rows> {
    const { token, refreshToken } = await api.admin();
    const store = memoryStore({ accessToken: token, accessExpiresAt: Infinity, refreshToken });
    const client = createClient({ url: api.url, store });
    const rows: Rows = {};
    for (const type of TYPES) {
      rows[type] = {};
      for await (const row of client[type].all({ size: 100 })) rows[type][row.id] = row;
    }
    return rows;
  }

  /** A transaction of another test file may keep the last changes back for a while. */
  async function expectEqual(folder: string): Promise<void> {
    const expected = JSON.stringify(sorted(await source()));
    await waitFor(async () => {
      await runOnce(folder);
      return JSON.stringify(sorted(rowsIn(folder))) === expected;
    }).catch(() => undefined);
    expect(sorted(rowsIn(folder))).toEqual(JSON.parse(expected));
  }

  it('has thirty lines at most, and stands in docs/using-the-api.md', () => {
    expect(script.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(30);
    expect(readFileSync('docs/using-the-api.md', 'utf8')).toContain(`\`\`\`js\n${script}\`\`\``);
  });

  it(`is equal to the source after ${STARTS} starts and kill -9 under load`, async () => {
    const folder = folderOf('killed');
    const load = new ChangesLoad(api.app.databaseUrl, await api.admin(), WRITERS, SEED);
    const writing = load.run();
    gateway.faultOf = () => (random() < 0.1 ? 'midway' : undefined);
    try {
      for (let count = 0; count < STARTS; count++) {
        const before = markIn(folder);
        const mirror = start('mirror.mjs', gateway.url, folder);
        try {
          // Every other one gets further, so that the mirror isn't only copied at the end.
          if (count % 2) await waitFor(() => markIn(folder) !== before);
          const made = load.made.length + random() * MOST_CHANGES;
          await waitFor(() => load.made.length >= made);
        } finally {
          await kill(mirror);
        }
      }
    } finally {
      load.stop();
      await writing;
    }

    await expectEqual(folder);
    expect(new Set(load.made.map(({ type, change }) => `${type} ${change}`)).size).toBe(9);
  }, 180_000);

  async function kill(mirror: ChildProcess): Promise<void> {
    if (mirror.exitCode !== null || mirror.signalCode !== null) return;
    mirror.kill('SIGKILL');
    await once(mirror, 'exit');
  }

  it('asks once where nothing has changed', async () => {
    const folder = folderOf('quiet');
    await expectEqual(folder);
    const before = rowsIn(folder);
    gateway.next();
    await runOnce(folder);

    expect(gateway.asked).toEqual([expect.stringMatching(/^GET \/changes\?cursor=/)]);
    expect(rowsIn(folder)).toEqual(before);
  });

  it('begins again when its mark is too old', async () => {
    const folder = folderOf('left');
    const old = {
      mark: `0-${(Date.now() - 8 * 86_400_000).toString(36)}`,
      rows: { products: {}, posts: {}, comments: {} },
    };
    write(`${folder}/mirror.json`, JSON.stringify(old));
    await runOnce(folder);

    expect(existsSync(file(folder))).toBe(false);
    await expectEqual(folder);
  });
});

/** Rows in the order of their ids, whichever way they came. */
const sorted = (rows: Rows): Rows =>
  Object.fromEntries(TYPES.map((type) => [type, Object.fromEntries(Object.entries(rows[type]))]));
