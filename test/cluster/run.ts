// npm run test:cluster: starts the set-up of compose.cluster.yaml on this machine, breaks one part after the other under load,
// and says what was lost. CLUSTER_RATE is the number of requests a second, CLUSTER_PROCESSES that of the processes of an
// instance, CLUSTER_LOGS prints what the parts have written.
// `npm run test:cluster -- Redis` breaks that part only.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Load } from '../../scripts/load/load';
import { isFailure } from '../../scripts/load/journal';
import { percentile, timesOf } from '../../scripts/load/report';
import { limitsCountTogether, revocationActsEverywhere, rolesActEverywhere } from './acts-at-once';
import { Cluster } from './cluster';
import { FAULTS, type Fault } from './faults';
import { makeProducts } from './products';
import { type Row, tableOf } from './table';

const RATE = Number(process.env.CLUSTER_RATE ?? 40);
/** The whole run, in milliseconds: behind it nothing hangs for ever. */
const ALL = 10 * 60_000;
/** In so many seconds the rate rises from nothing. Six processes that have just started would each compile all code at once. */
const RISE = RATE / 25;
/** How long the load runs before a fault, and after all is well again, in milliseconds. */
const BEFORE = 2_000;
const AFTER = 3_000;
/** Within this time, in milliseconds, a broken instance gets no more requests. */
const TAKEN_OUT = 2_000;
/** Within this time, in milliseconds, a write succeeds again, whatever has happened. */
const WRITES_AGAIN = 5_000;
const NEEDED = ['haproxy', 'pgbouncer', 'redis-server'];

interface Result {
  name: string;
  problem?: string;
}

/** One fault under load, and what it did. */
async function suffer(cluster: Cluster, fault: Fault): Promise<{ row: Row; problems: string[] }> {
  fault.prepare?.(cluster);
  const load = await Load.prepare({
    ...{ url: cluster.url, rate: RATE, rise: RISE, seconds: 120, reads: 0.8, connections: 100, users: 4, accounts: [] },
    ...{ slow: 10_000, slowShare: 1 },
  });
  const running = load.run();
  await sleep(1_000 * RISE + BEFORE);
  const from = performance.now();
  await fault.happen(cluster);
  await sleep(AFTER);
  load.stop();
  await running;
  await load.verify();
  load.close();
  return judge(fault, load, from);
}

function judge(fault: Fault, { journal }: Load, from: number): { row: Row; problems: string[] } {
  const failed = journal.attempts.filter(({ status }) => isFailure(status));
  const lastFailure = Math.max(0, ...failed.map(({ at }) => at - from));
  const first = journal.firstSuccessAfter(from);
  const firstWrite = journal.firstSuccessAfter(from, ({ method }) => method !== 'GET');
  const { lost, doubled, wrong, unanswered } = journal.findings.counts;
  const row = {
    fault: fault.name,
    requests: journal.done.length,
    failed: failed.length,
    'last failed after': `${(lastFailure / 1_000).toFixed(1)} s`,
    lost,
    doubled,
    wrong: wrong + unanswered,
    '99 % within': `${(percentile(timesOf(journal.done), 0.99) / 1_000).toFixed(2)} s`,
    'first 2xx after': `${(first / 1_000).toFixed(2)} s`,
    'first write after': `${(firstWrite / 1_000).toFixed(2)} s`,
  };
  const problems = [
    ...(journal.findings.isEmpty ? [] : journal.findings.examples),
    ...(failed.length > 0 && !fault.mayFail ? [`${failed.length} attempts failed: ${statusesOf(failed)}`] : []),
    ...(lastFailure > Math.max(fault.patience, TAKEN_OUT)
      ? [`an attempt failed ${lastFailure} ms after the fault: ${statusesOf(failed)}`]
      : []),
    ...(first > fault.patience ? [`nothing succeeded for ${first} ms`] : []),
    ...(firstWrite > WRITES_AGAIN ? [`no write succeeded for ${firstWrite} ms`] : []),
  ];
  return { row, problems };
}

/** How many attempts had which status; 0 is a connection that broke. */
function statusesOf(attempts: { status: number }[]): string {
  const counts = new Map<number, number>();
  for (const { status } of attempts) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} of ${status}`).join(', ');
}

async function attempt(results: Result[], name: string, work: () => Promise<string[] | void>): Promise<void> {
  try {
    const [problem] = (await work()) ?? [];
    results.push({ name, problem });
  } catch (error) {
    results.push({ name, problem: (error as Error).message });
  }
  const { problem } = results.at(-1)!;
  process.stdout.write(
    `${problem === undefined ? 'ok  ' : 'FAIL'} ${name}${problem === undefined ? '' : `: ${problem}`}\n`,
  );
}

async function run(cluster: Cluster): Promise<number> {
  const results: Result[] = [];
  const rows: Row[] = [];
  await cluster.start();
  await makeProducts(cluster);
  process.stdout.write(`The cluster serves at ${cluster.url}; ${RATE} requests a second\n`);
  await attempt(results, 'a sign-out acts at every instance', () => revocationActsEverywhere(cluster));
  await attempt(results, 'a role acts at every instance', () => rolesActEverywhere(cluster));
  await attempt(results, 'a rate limit counts at all instances together', () => limitsCountTogether(cluster));
  const wanted = process.argv[2] ?? '';
  for (const fault of FAULTS.filter(({ name }) => name.includes(wanted))) {
    await attempt(results, fault.name, async () => {
      const { row, problems } = await suffer(cluster, fault);
      rows.push(row);
      return problems;
    });
  }
  const failed = results.filter(({ problem }) => problem !== undefined).length;
  process.stdout.write(`\n${tableOf(rows)}\n${results.length - failed} passed, ${failed} failed\n`);
  return failed;
}

async function main(): Promise<void> {
  const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}`);
  const built = process.env.CLUSTER_NO_BUILD
    ? { status: 0 }
    : spawnSync(process.execPath, ['scripts/build-if-changed.mjs'], { stdio: 'inherit' });
  if (built.status !== 0) throw new Error('The build failed');
  const cluster = new Cluster();
  const end = async (code: number) => {
    if (process.env.CLUSTER_LOGS) process.stdout.write(cluster.logs());
    await cluster.stop();
    process.exit(code);
  };
  setTimeout(() => {
    process.stdout.write('\nNot done after ten minutes\n0 passed, 1 failed\n');
    void end(1);
  }, ALL).unref();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(1));
  const fail = (error: unknown) => {
    process.stdout.write(`${(error as Error).stack}\n0 passed, 1 failed\n`);
    return end(1);
  };
  // Otherwise the programs would run on.
  process.once('uncaughtException', (error) => void fail(error));
  await run(cluster).then((failed) => end(failed > 0 ? 1 : 0), fail);
}

void main();
