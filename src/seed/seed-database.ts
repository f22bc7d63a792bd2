import { Client } from 'pg';
import { copyRows, type Row } from './copy-rows';
import type { Progress } from './progress';
import { reserveIds } from './reserve-ids';
import { type Seed, seededResources, type World } from './rows/world';
import { whileCollecting } from './search-indexes';
import './seeds';

export interface SeedOptions extends Pick<World, 'seed' | 'counts' | 'passwordHash'> {
  /** Rows of a resource in one transaction. Default: 5000 */
  batchSize?: number;
}

export interface SeedSummary {
  /** Rows by table. */
  rows: Record<string, number>;
  seconds: number;
}

/** Concurrent connections: the server spends most time on indexes and foreign keys. */
const LANES = 4;

/**
 * Writes invented rows beside existing ones. The schema must be up to date. Each batch is a transaction. A failure
 * keeps the batches before it.
 */
export async function seedDatabase(
  url: string,
  { batchSize = 5_000, ...options }: SeedOptions,
  progress: Progress,
): Promise<SeedSummary> {
  const start = performance.now();
  // The first has no transaction of its own, which may be aborted, or open, when another lane fails.
  const [keeper, ...lanes] = await connect(url, 1 + LANES);
  try {
    const world: World = { ...options, ids: await reserveIds(keeper, options.counts), now: new Date() };
    const rows = await whileCollecting(keeper, async () => {
      const written = await writeAll(lanes, world, batchSize, progress);
      // Empties the lists that the search indexes collect new rows in, and lets the planner know what it deals with.
      const byTriggers = seededResources().flatMap((one) => one.byTriggers ?? []);
      await keeper.query(`VACUUM (ANALYZE) ${[...Object.keys(written), ...byTriggers].join(', ')}`);
      return written;
    });
    return { rows, seconds: (performance.now() - start) / 1_000 };
  } finally {
    progress.end();
    await Promise.all([keeper, ...lanes].map((lane) => lane.end()));
  }
}

async function connect(url: string, count: number): Promise<Client[]> {
  const lanes = Array.from({ length: count }, () => new Client({ connectionString: url, application_name: 'seed' }));
  // The failing statement reports it. Without a listener it would end the process.
  lanes.forEach((lane) => lane.on('error', () => undefined));
  await Promise.all(lanes.map((lane) => lane.connect()));
  return lanes;
}

/** @returns the number of rows by table */
async function writeAll(
  lanes: Client[],
  world: World,
  batchSize: number,
  progress: Progress,
): Promise<Record<string, number>> {
  const written: Record<string, number> = {};
  for (const { noun, tables } of seededResources()) {
    for (const table of Object.keys(tables)) written[table] = 0;
    progress.begin(noun);
    // All lanes share one iterator: an idle lane takes the next batch, and a failure stops all lanes.
    const batches = batchesOf(world.counts[noun], batchSize);
    const work = async (lane: Client) => {
      for (const places of batches) {
        await writeBatch(lane, world, tables, places, written);
        progress.advance(places.length);
      }
    };
    await Promise.all(lanes.map(work));
  }
  return written;
}

async function writeBatch(
  lane: Client,
  world: World,
  tables: Seed['tables'],
  places: number[],
  written: Record<string, number>,
): Promise<void> {
  await lane.query('BEGIN');
  for (const [table, make] of Object.entries(tables)) {
    const rows = places.flatMap<Row>((place) => make(world, place));
    await copyRows(lane, table, rows);
    written[table] += rows.length;
  }
  await lane.query('COMMIT');
}

function* batchesOf(count: number, size: number): Generator<number[]> {
  for (let start = 0; start < count; start += size) {
    yield Array.from({ length: Math.min(size, count - start) }, (_, offset) => start + offset);
  }
}
