// npm run bench: the product compared with servers that do the same with less; see `npm run bench -- --help`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { Bench } from './lib/bench.mjs';
import { checkWorks } from './lib/check.mjs';
import { CleanUp } from './lib/clean-up.mjs';
import { ratiosIn, resultsFile } from './lib/committed.mjs';
import { requireWrk } from './lib/load.mjs';
import { describeMachine } from './lib/machine.mjs';
import { report } from './lib/report.mjs';
import { Results } from './lib/results.mjs';
import { measureWorks, takesPart } from './lib/rounds.mjs';
import { HELP, OptionsError, parseOptions } from './options.mjs';
import { build, PRODUCT, REFERENCES, VARIANTS } from './servers.mjs';
import { WORKS } from './works.mjs';

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
  const names = options.only;
  await startOnce(bench, names);
  const works = WORKS.filter((work) => options.works.includes(work.name) && takesPart('bare', work));
  const { text, isGood } = await checkWorks(works, committed, async (work) => {
    const results = new Results();
    await measureWorks(bench, { works: [work], names, options, results, progress });
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

  await startOnce(bench, names);
  await measureWorks(bench, { works, names, options, results, progress });
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

/** The product's first start on a database inserts its administrator. */
async function startOnce(bench, names) {
  for (const name of names.filter((name) => !(name in REFERENCES))) await (await bench.start(name)).stop();
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
