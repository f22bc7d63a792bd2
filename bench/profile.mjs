// npm run bench:profile: where the product spends the time of a request.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import prettier from 'prettier';
import { Bench } from './lib/bench.mjs';
import { CleanUp } from './lib/clean-up.mjs';
import { requireWrk } from './lib/load.mjs';
import { Assignment } from './lib/measure.mjs';
import { IDLE, sumUp } from './lib/profile.mjs';
import { build } from './servers.mjs';
import { WORKS } from './works.mjs';

const HELP = `Profiles the service under load and sums the time up by package.

  npm run bench:profile -- [options]

  --work NAME       one of ${WORKS.map(({ name }) => name).join(', ')}; user unless given
  --seconds N       of load; 10 unless given
  --users N         100000 unless given
  --no-pin          leaves processes on the cores where they are
  --node FILE       the Node that the service runs on; the one that runs this unless given
  --functions N     how many functions to list; 30 unless given
  --help

Needs what npm run bench needs.
`;
/** In microseconds. */
const SAMPLING_INTERVAL = 500;
const PRODUCTS = 10_000;
const CONNECTIONS = 32;

async function profile({ work, seconds, users, functions, pin, node }) {
  requireWrk();
  build(['product']);
  const cleanUp = new CleanUp();
  try {
    const options = { pin, node, connections: CONNECTIONS, keepAlive: true, gzip: false, processes: 1 };
    const bench = new Bench(process.env.DATABASE_URL, cleanUp, options);
    await bench.fill({ users, products: PRODUCTS });
    console.error(bench.pin());
    const { load, window } = await loadUnderProfile(bench, work, seconds);
    console.log(await describe(sumUp(readProfile(bench.directory), window), { work, load, functions }));
  } finally {
    await cleanUp.run();
  }
}

async function loadUnderProfile(bench, work, seconds) {
  const { directory } = bench;
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${directory}`, `--cpu-prof-interval=${SAMPLING_INTERVAL}`];
  const server = await bench.start('product', nodeOptions);
  await bench.signIn();
  const prepared = await bench.prepared(work, 'product');
  if (prepared === undefined) throw new Error('The service has no /api/v2');
  const assignment = new Assignment(bench, work, 'product', prepared);
  await assignment.warmUp();
  const load = await assignment.measure(seconds);
  if (load.invalid) throw new Error(load.invalid);
  // The profile is written when the process ends.
  await server.stop();
  return { load, window: load.window };
}

function readProfile(directory) {
  const file = readdirSync(directory).find((name) => name.endsWith('.cpuprofile'));
  return JSON.parse(readFileSync(join(directory, file), 'utf8'));
}

function describe({ packages, functions }, { work, load, functions: count }) {
  const busy = packages.filter(({ name }) => name !== IDLE).reduce((sum, { time }) => sum + time, 0);
  const row = ({ name, time }) =>
    `| ${name} | ${((100 * time) / busy).toFixed(1)} | ${(time / load.requests).toFixed(1)} |`;
  const table = (head, entries) =>
    [`| ${head} | % of busy time | µs a request |`, '| --- | ---: | ---: |', ...entries.map(row)].join('\n');
  const working = ({ name }) => !name.endsWith(IDLE);
  const text = [
    `# ${work.title}`,
    `${load.requests} requests, ${Math.round(load.rate)} a second while profiled. Times are without callees.`,
    table('package', packages.filter(working)),
    table('function', functions.filter(working).slice(0, count)),
  ];
  return prettier.format(text.join('\n\n'), { parser: 'markdown', printWidth: 120 });
}

function readOptions(words) {
  const text = (value) => ({ type: 'string', default: value });
  const flag = { type: 'boolean', default: false };
  const numbers = { seconds: text('10'), users: text('100000'), functions: text('30') };
  const { values } = parseArgs({
    args: words,
    options: { ...numbers, work: text('user'), node: { type: 'string' }, 'no-pin': flag, help: flag },
  });
  const work = WORKS.find(({ name }) => name === values.work);
  if (!work) throw new Error(`There is no work "${values.work}"`);
  for (const name of Object.keys(numbers)) {
    values[name] = Number(values[name]);
    if (!Number.isSafeInteger(values[name]) || values[name] < 1) throw new Error(`--${name} must be a whole number`);
  }
  if (!process.env.DATABASE_URL && !values.help) throw new Error('DATABASE_URL must name a PostgreSQL server');
  return { ...values, work, pin: !values['no-pin'] };
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else await profile(options);
} catch (error) {
  console.error(`${error.message}\nnpm run bench:profile -- --help lists the options.`);
  process.exitCode = 1;
}
