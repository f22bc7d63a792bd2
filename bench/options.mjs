import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { resultsFile } from './lib/committed.mjs';
import { REFERENCES, VARIANTS } from './servers.mjs';
import { WORKS } from './works.mjs';

const SERVERS = ['product', ...Object.keys(VARIANTS), ...Object.keys(REFERENCES)];
/** The servers whose ratio is compared. */
const CHECKED = ['product', 'bare'];
const WORK_NAMES = WORKS.map(({ name }) => name);
const ROWS = [1_000, 10_000_000];
const LIMITS = {
  rounds: [1, 99],
  seconds: [1, 600],
  users: ROWS,
  products: ROWS,
  large: ROWS,
  connections: [1, 1_000],
  processes: [1, 16],
};
const DEFAULTS = {
  rounds: '3',
  seconds: '4',
  users: '100000',
  products: '10000',
  connections: '32',
  processes: '1',
  node: process.execPath,
};
/** Options without which a run is one to write down. */
const PARTIAL = ['check', 'only', 'works', 'before', 'connections', 'no-keep-alive', 'gzip', 'processes', 'no-latency'];

const dashed = (name) => `--${name}`;

export const HELP = `Measures the service beside servers that do the same with less, and writes bench/RESULTS.md.

  npm run bench -- [options]

  --rounds N        how often each server is started, and measured with each work; 3 unless given
  --seconds N       how long each time, in turns of a second; 4 unless given
  --check           compares with the committed results of this Node instead, and exits with 1 if a work has lost
                    more than a tenth of its ratio to L0 twice in a row
  --only A,B        of the servers ${SERVERS.join(', ')}
  --works A,B       of the works ${WORK_NAMES.join(', ')}
  --users N         100000 unless given
  --products N      10000 unless given
  --large N         some works on N users and N products as well, in a second database: ten million take 15 minutes and 14 GB
  --before FOLDER   the service of another checkout as well, compiled there, on a database of its own
  --node FILE       the Node that the servers run on; the one that runs this unless given
  --connections N   that send at once; 32 unless given
  --no-keep-alive   a connection for each request
  --gzip            answers may be compressed
  --processes N     of each server, PROCESSES of the service; nothing is pinned then
  --no-latency      measures nothing at fixed rates
  --no-pin          leaves processes on the cores where they are
  --output FILE     bench/RESULTS.md unless given, or for another Node than 24 bench/RESULTS.nodeN.md; nothing is written of a run with one of the options
                    ${PARTIAL.slice(0, 5).map(dashed).join(' ')}
                    ${PARTIAL.slice(5).map(dashed).join(' ')}
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
  const isComplete = PARTIAL.every((name) => !values[name]);
  const given = { ...DEFAULTS, ...values };
  const options = {
    ...given,
    pin: !values['no-pin'],
    keepAlive: !values['no-keep-alive'],
    latency: !values['no-latency'],
  };
  for (const name of Object.keys(LIMITS).filter((one) => given[one] !== undefined))
    options[name] = wholeNumber(name, given[name]);
  options.only = chosen('only', values.only, SERVERS);
  options.works = chosen('works', values.works, WORK_NAMES);
  options.nodeVersion = versionOf(options.node);
  options.output ??= isComplete ? resultsFile(parseInt(options.nodeVersion, 10)) : undefined;
  if (options.check) Object.assign(options, { only: CHECKED, latency: false, large: undefined, before: undefined });
  return options;
}

function parse(words) {
  const named = (type, ...names) => Object.fromEntries(names.map((name) => [name, { type }]));
  const texts = named('string', 'only', 'works', 'logs', 'before', 'node', 'output', ...Object.keys(LIMITS));
  const flags = named('boolean', 'check', 'no-keep-alive', 'gzip', 'no-latency', 'no-pin', 'help');
  try {
    return parseArgs({ args: words, options: { ...texts, ...flags } });
  } catch (error) {
    throw new OptionsError(error.message);
  }
}

function versionOf(node) {
  try {
    return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
  } catch {
    throw new OptionsError(`--node ${node} does not run`);
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
