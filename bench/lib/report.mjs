// Writes the results as Markdown.
import prettier from 'prettier';
import { BARS, limitsOf } from '../bars.mjs';
import { LOAD } from './load.mjs';

const MEGABYTE = 1_000_000;
const NOTHING = '-';
const NOT_MEASURED =
  'LoopBack, Directus and Platformatic DB are no dependencies of this project and were not measured here.';

/** @param run `{ results, works, servers, machine, options, pinning }`; servers by name, in the order of the columns */
export async function report(run) {
  const text = [
    '# Results of `npm run bench`',
    introduction(run),
    '## The bars',
    barsTable(run),
    '## Requests a second, and their ratio to L0',
    worksTable(run, rateCell),
    '## CPU for 1,000 requests, milliseconds: server + PostgreSQL',
    worksTable(run, cpuCell),
    '## Latency, milliseconds: p50 / p99',
    worksTable(run, latencyCell),
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
      `Load: ${LOAD}, ${options.seconds} s after a warm-up; rounds: ${options.rounds}, every other one in reverse order`,
      pinning,
      'Each figure is the median of the rounds, each ratio the median of the ratios in one round.',
      'All servers get the same requests, with the headers of a proxy, from 32 users and 1,000 addresses; logs go to ' +
        `${options.logs === undefined ? '/dev/null' : 'files'}. One answer of each server was compared with the others'.`,
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
