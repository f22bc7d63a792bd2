// npm run bench: the product compared with servers that do the same with less; see `npm run bench -- --help`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { Bench } from './lib/bench.mjs';
import { checkWorks } from './lib/check.mjs';
import { CleanUp } from './lib/clean-up.mjs';
import { ratiosIn, resultsFile } from './lib/committed.mjs';
import { requireWrk } from './lib/load.mjs';
import { describeMachine } from './lib/machine.mjs';
import { Assignment } from './lib/measure.mjs';
import { RATES } from './lib/rates.mjs';
import { report } from './lib/report.mjs';
import { Results } from './lib/results.mjs';
import { HELP, OptionsError, parseOptions } from './options.mjs';
import { build, PRODUCT, REFERENCES, VARIANTS } from './servers.mjs';
import { WORKS } from './works.mjs';

/** Those measured at fixed rates. */
const STEADY_SERVERS = ['product', 'before', 'bare', 'fastify'];
/** The load average of a minute below which the machine counts as quiet. */
const QUIET_LOAD = 0.5;

async function run(options) {
  const { DATABASE_URL } = process.env;
  if (!DATABASE_URL) throw new OptionsError('DATABASE_URL must name a PostgreSQL server');
  requireWrk();
  // The product's seed command fills the database, whichever servers are measured.
  build(['product', ...options.only]);
  const cleanUp = new CleanUp();
  try {
    const bench = new Bench(DATABASE_URL, cleanUp, options);
    if (options.check) return await check(bench, options);
    const text = await measureAll(bench, options);
    if (options.output !== undefined) writeFileSync(options.output, text);
    console.log(`\n${text}`);
  } finally {
    await cleanUp.run();
  }
}

async function check(bench, options) {
  const file = resultsFile(parseInt(options.nodeVersion, 10));
  if (!existsSync(file)) throw new OptionsError(`There is no ${file} to compare with`);
  const committed = ratiosIn(readFileSync(file, 'utf8'), PRODUCT.title);
  await bench.fill(options);
  progress(bench.pin());
  // Start-up isn't compared.
  await startAll(bench, options.only, { rounds: 1 }, new Results());
  await bench.signIn();
  const works = WORKS.filter((work) => options.works.includes(work.name) && takesPart('bare', work));
  const { text, isGood } = await checkWorks(works, committed, async (work) => {
    const results = new Results();
    await measureWork(bench, work, options.only, options, results);
    results.notes.forEach(progress);
    return results.ratio({ work: work.name, server: 'product' }, { work: work.name, server: 'bare' });
  });
  console.log(`\nCompared with ${file}:\n${text}`);
  if (!isGood) process.exitCode = 1;
}

async function measureAll(bench, options) {
  const results = new Results();
  const works = WORKS.filter(({ name }) => options.works.includes(name));
  const names = [...options.only];
  if (options.before !== undefined) names.unshift('before');
  if (options.large !== undefined && options.only.includes('product')) names.push('large');
  noteLoad(results);
  progress(`Filling the database with ${options.users} users and ${options.products} products`);
  await bench.fill(options);
  if (names.includes('large')) await bench.fillLarge(options);
  if (names.includes('before')) await bench.fillBefore(options);
  for (const name of names.filter((one) => VARIANTS[one]?.prepare)) await bench.fillVariant(name, options);
  const pinning = bench.pin();
  progress(pinning);

  await startAll(bench, names, options, results);
  await bench.signIn();
  for (const work of works) await measureWork(bench, work, names, options, results);
  return report({
    results,
    works,
    servers: Object.fromEntries(names.map((name) => [name, describe(name, options)])),
    machine: await describeMachine(bench.clients.main, options.nodeVersion),
    options,
    pinning,
  });
}

function noteLoad(results) {
  const [load] = loadavg();
  if (load > QUIET_LOAD) results.note(`The machine was busy when the run began: a load average of ${load.toFixed(1)}.`);
}

/** The last start of each is the one that is measured further. */
async function startAll(bench, names, { rounds }, results) {
  // The product's first start on a database inserts its administrator.
  for (const name of names.filter((name) => !(name in REFERENCES))) await (await bench.start(name)).stop();
  for (const [round, name] of alternating(names, rounds)) {
    const { startUp } = await bench.start(name);
    (results.startUps[name] ??= []).push(startUp);
    progress(`start-up, round ${round + 1}: ${name} ${startUp.toFixed(2)} s`);
    if (round < rounds - 1) await bench.servers[name].stop();
  }
}

async function measureWork(bench, work, names, options, results) {
  const { rounds, seconds } = options;
  const assignments = await assign(bench, work, names, results);
  const servers = Object.keys(assignments);
  for (const [round, name] of alternating(servers, rounds)) {
    const measurement = await assignments[name].measure(seconds).catch(({ message }) => ({ invalid: message }));
    await assignments[name].restore();
    results.add(work.name, name, round, measurement);
    results.addMemory(name, bench.servers[name].memory);
    progress(`${work.name}, round ${round + 1}: ${name} ${measurement.invalid ?? `${Math.round(measurement.rate)}/s`}`);
  }
  if (options.latency && work.steady) await measureLatency(assignments, work, options, results);
}

/** At shares of what each server has just shown that it can do. */
async function measureLatency(assignments, work, { rounds, seconds }, results) {
  const servers = STEADY_SERVERS.filter((name) => results.figure(work.name, name, 'rate') !== undefined);
  for (const { share, keyOf, title } of RATES) {
    for (const [round, name] of alternating(servers, rounds)) {
      const rate = share * results.figure(work.name, name, 'rate');
      const measurement = await assignments[name]
        .measureAt(rate, seconds)
        .catch(({ message }) => ({ invalid: message }));
      await assignments[name].restore();
      results.add(keyOf(work.name), name, round, measurement);
      const said = measurement.invalid ?? `p99 ${measurement.p99.toFixed(2)} ms`;
      progress(`${work.name} at ${title}, round ${round + 1}: ${name} ${said}`);
    }
  }
}

/** @returns the assignments of the servers that take part, by their names */
async function assign(bench, work, names, results) {
  const assignments = {};
  for (const name of names.filter((one) => takesPart(one, work))) {
    const prepared = await bench.prepared(work, name);
    if (prepared === undefined) results.note(`${work.name} was skipped on ${name}, which has no /api/v2.`);
    else assignments[name] = new Assignment(bench, work, name, prepared);
  }
  // What they have prepared stays.
  for (const assignment of Object.values(assignments)) await assignment.mark();
  return assignments;
}

function takesPart(name, { only, large, variants }) {
  if (name in VARIANTS) return variants?.includes(name) ?? false;
  if (name === 'large') return large === true;
  return only?.includes(name === 'before' ? 'product' : name) ?? true;
}

/** A B C, C B A, A B C ...: drift of the machine affects all servers alike. */
function* alternating(names, rounds) {
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) yield [round, name];
  }
}

function describe(name, { large }) {
  if (name === 'before') return { title: 'Before', about: 'The service of another checkout.' };
  if (name !== 'large') return REFERENCES[name] ?? VARIANTS[name] ?? PRODUCT;
  return { title: `${PRODUCT.title}, large`, about: `The same with ${large} users and products.` };
}

function progress(line) {
  console.error(line);
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else await run(options);
} catch (error) {
  const hint = error instanceof OptionsError ? '\nnpm run bench -- --help lists the options.' : '';
  console.error(error instanceof OptionsError ? error.message + hint : error);
  process.exitCode = 1;
}
