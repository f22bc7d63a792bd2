import { parseArgs } from 'node:util';
import { REFERENCES, VARIANTS } from './servers.mjs';
import { WORKS } from './works.mjs';

const SERVERS = ['product', ...Object.keys(VARIANTS), ...Object.keys(REFERENCES)];
const WORK_NAMES = WORKS.map(({ name }) => name);
const ROWS = [1_000, 10_000_000];
const LIMITS = { rounds: [1, 99], seconds: [1, 600], users: ROWS, products: ROWS, large: ROWS };

export const HELP = `Measures the service beside servers that do the same with less, and writes bench/RESULTS.md.

  npm run bench -- [options]

  --rounds N        how often each work is measured on each server; 3 unless given
  --seconds N       how long each time; 4 unless given
  --only A,B        of the servers ${SERVERS.join(', ')}
  --works A,B       of the works ${WORK_NAMES.join(', ')}
  --users N         100000 unless given
  --products N      10000 unless given
  --large N         some works on N users and N products as well, in a second database, which takes long to fill
  --before FOLDER   the service of another checkout as well, compiled there, on a database of its own
  --node FILE       the Node that the servers run on; the one that runs this unless given
  --no-pin          leaves processes on the cores where they are
  --output FILE     bench/RESULTS.md unless given; nothing is written of a run with --only, --works,
                    --before or --node
  --logs FOLDER     keeps what the servers log; it goes to /dev/null unless given
  --help

Needs wrk, and in DATABASE_URL a PostgreSQL 15 or newer whose role may create databases: the rows live in databases of
their own, which are dropped at the end.
`;

/** The message is for the user of the command. */
export class OptionsError extends Error {}

/** @throws {OptionsError} */
export function parseOptions(words) {
  const { values } = parse(words);
  const options = { ...values, pin: !values['no-pin'] };
  for (const name of Object.keys(LIMITS).filter((one) => values[one] !== undefined))
    options[name] = wholeNumber(name, values[name]);
  options.only = chosen('only', values.only, SERVERS);
  options.works = chosen('works', values.works, WORK_NAMES);
  const complete = values.only === undefined && values.works === undefined;
  options.output ??=
    complete && values.before === undefined && values.node === undefined ? 'bench/RESULTS.md' : undefined;
  return options;
}

function parse(words) {
  const text = (value) => ({ type: 'string', default: value });
  const flag = { type: 'boolean', default: false };
  const numbers = { rounds: text('3'), seconds: text('4'), users: text('100000'), products: text('10000') };
  const names = { only: { type: 'string' }, works: { type: 'string' }, logs: { type: 'string' } };
  const others = { before: { type: 'string' }, large: { type: 'string' }, node: text(process.execPath) };
  const flags = { 'no-pin': flag, help: flag };
  try {
    return parseArgs({
      args: words,
      options: { ...numbers, ...names, ...others, ...flags, output: { type: 'string' } },
    });
  } catch (error) {
    throw new OptionsError(error.message);
  }
}

function wholeNumber(name, text) {
  const [min, max] = LIMITS[name];
  if (/^\d{1,8}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new OptionsError(`--${name} must be a whole number from ${min} to ${max}`);
}

/** In the order of all names, whatever the given order is. */
function chosen(option, text, names) {
  if (text === undefined) return names;
  const given = text.split(',');
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new OptionsError(`--${option} has ${names.join(', ')}; not "${unknown}"`);
  return names.filter((name) => given.includes(name));
}
