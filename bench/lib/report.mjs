// Writes the results as Markdown.
import prettier from 'prettier';
import { BARS, limitsOf } from '../bars.mjs';
import { CALLERS } from './database.mjs';
import { describeLoad } from './load.mjs';
import { RATES } from './rates.mjs';

const MEGABYTE = 1_000_000;
const NOTHING = '-';
const NOT_MEASURED =
  'LoopBack, Directus and Platformatic DB are no dependencies of this project and were not measured here.';

/** @param run `{ results, works, servers, machine, options, pinning }`; servers by name, in the order of the columns */
export async function report(run) {
  const text = [
    `# Results of \`npm run bench\` on Node ${parseInt(run.machine.node, 10)}`,
    introduction(run),
    '## The bars',
    barsTable(run),
    '## Requests a second, and their ratio to L0',
    worksTable(run, rateCell),
    '## CPU for 1,000 requests, milliseconds: server + PostgreSQL',
    worksTable(run, cpuCell),
    '## Latency, milliseconds: p50 / p99',
    worksTable(run, latencyCell),
    ...steadySections(run),
    ...beforeSection(run),
    '## Start-up and memory',
    serversTable(run),
    '## Notes',
    list([...run.results.notes, NOT_MEASURED]),
  ].join('\n\n');
  return prettier.format(text, { parser: 'markdown', printWidth: 120, proseWrap: 'always' });
}

function introduction({ machine, options, pinning, servers }) {
  return [
    list([
      `Machine: ${machine.cpu}`,
      `Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.date}`,
      `Data: ${options.users} users, ${options.products} products, the same database for all`,
      `Load: ${describeLoad(options)}, ${options.seconds} s after a warm-up that ends when the server gets no faster, by turns of a second, or of 3 for pages and searches`,
      `Rounds: ${options.rounds}, each with new processes of all servers`,
      ...(options.processes > 1 ? [`Each server has ${options.processes} processes`] : []),
      pinning,
      'Each figure is the median of the rounds, each ratio the median of the ratios in one round.',
      'All servers get the same requests, with the headers of a proxy, from ' +
        `${CALLERS} users or administrators and 1,000 addresses; logs go to ${options.logs === undefined ? '/dev/null' : 'files'}. One answer of each server was compared with the others'.`,
      'Start-up is from the start of the process to its first 200 for a product. Memory is the most that was resident ' +
        'right after a load.',
    ]),
    list(Object.values(servers).map(({ title, about }) => `**${title}**: ${about}`)),
  ].join('\n\n');
}

function barsTable({ results, machine }) {
  const major = parseInt(machine.node, 10);
  const rows = BARS.map((bar) => {
    const value = bar.of ? results.ratio(bar.of, bar.to, bar.figure) : ownFigure(results, bar.figure);
    const limits = limitsOf(bar, major);
    return [bar.title, limits.bound ?? NOTHING, limits.aim ?? NOTHING, number(value), verdict(limits, value)];
  });
  return table(['work', 'bar', 'aim', 'measured', ''], rows);
}

function ownFigure(results, figure) {
  if (figure === 'startUp') return results.startUp('product');
  return results.memory.product && results.memory.product / MEGABYTE;
}

function verdict({ bound, aim, isMet }, value) {
  if (value === undefined) return 'not measured';
  if (aim !== undefined && isMet(aim, value)) return 'aim reached';
  if (bound === undefined) return 'below its aim';
  return isMet(bound, value) ? 'met' : '**missed**';
}

function worksTable({ works, servers, results }, cellOf) {
  const names = Object.keys(servers);
  const rows = works.map((work) => [work.title, ...names.map((server) => cellOf(results, work.name, server))]);
  return table(['work', ...names.map((name) => servers[name].title)], rows);
}

function rateCell(results, work, server) {
  const rate = results.figure(work, server, 'rate');
  if (rate === undefined) return NOTHING;
  const ratio = results.ratio({ work, server }, { work, server: 'bare' });
  return ratio === undefined ? number(rate) : `${number(rate)} (${number(ratio)})`;
}

function cpuCell(results, work, server) {
  const own = results.figure(work, server, 'serverCpu');
  if (own === undefined) return NOTHING;
  return `${number(own)} + ${number(results.figure(work, server, 'postgresCpu'))}`;
}

function latencyCell(results, work, server) {
  const p50 = results.figure(work, server, 'p50');
  return p50 === undefined ? NOTHING : `${number(p50)} / ${number(results.figure(work, server, 'p99'))}`;
}

function steadySections(run) {
  const works = run.works.filter(({ steady }) => steady);
  if (!run.options.latency || works.length === 0) return [];
  const servers = Object.fromEntries(
    Object.entries(run.servers).filter(([name]) =>
      works.some((work) => RATES.some(({ keyOf }) => run.results.rounds[keyOf(work.name)]?.[name])),
    ),
  );
  const tables = RATES.flatMap(({ title, keyOf }) => [
    `### At ${title}`,
    worksTable({ ...run, servers, works: works.map((work) => ({ ...work, name: keyOf(work.name) })) }, steadyCell),
  ]);
  return [
    '## Latency at a fixed rate: p50 / p99 / p99.9 in milliseconds, and CPU of the server for 1,000 requests',
    'Each server gets a share of its own maximum. The latency of a request counts from the moment when it was due, whether ' +
      'or not the server keeps up. Requests become due one by one, and are sent by a timer of a millisecond.',
    ...tables,
  ];
}

function steadyCell(results, work, server) {
  const figure = (name) => number(results.figure(work, server, name));
  if (results.figure(work, server, 'p50') === undefined) return NOTHING;
  return `${figure('rate')}/s: ${figure('p50')} / ${figure('p99')} / ${figure('p999')}; ${figure('serverCpu')}`;
}

/** Each ratio is the median of the rounds' ratios. */
function beforeSection({ works, servers, results }) {
  if (!servers.before) return [];
  const to = (work, name) => number(results.ratio({ work, server: 'product' }, { work, server: 'before' }, name));
  const rows = works.map((work) => [
    work.title,
    ...['rate', 'serverCpu', 'postgresCpu'].map((name) => to(work.name, name)),
  ]);
  return [
    '## This checkout to the one before',
    table(['work', 'requests a second', 'CPU of the server', 'CPU of PostgreSQL'], rows),
  ];
}

function serversTable({ servers, results }) {
  const rows = Object.entries(servers).map(([name, { title }]) => [
    title,
    number(results.startUp(name)),
    number(results.memory[name] && results.memory[name] / MEGABYTE),
  ]);
  return table(['server', 'start-up to the first 200, s', 'resident memory after load, MB'], rows);
}

function number(value) {
  if (value === undefined || !Number.isFinite(value)) return NOTHING;
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function list(lines) {
  return lines.map((line) => `- ${line}`).join('\n');
}
