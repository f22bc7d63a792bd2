// Measures works on servers: in rounds, with new processes in each, which take turns by the second.
import { VARIANTS } from '../servers.mjs';
import { Assignment } from './measure.mjs';
import { RATES } from './rates.mjs';
import { median } from './statistics.mjs';

/** Measured at fixed rates. */
const STEADY_SERVERS = ['product', 'before', 'bare', 'fastify'];

/**
 * Measures each work in each round. A process that V8 happened to compile badly decides one round, and a slow second of the
 * machine affects the servers alike.
 * @param how `{ works, names, options, results, progress }`: names of servers, options of options.mjs, and where results
 *   and lines for the user go
 */
export async function measureWorks(bench, how) {
  const { works, options } = how;
  let assigned;
  for (let round = 0; round < options.rounds; round++) {
    await startAll(bench, how, round);
    await bench.signIn();
    assigned ??= await assignAll(bench, how);
    for (const work of works) await measureRound(bench, work, assigned.get(work), round, how);
  }
  if (!options.latency) return;
  for (const work of works.filter(({ steady }) => steady)) await measureLatency(assigned.get(work), work, how);
}

/** Starts each server anew. */
async function startAll(bench, { names, options, results, progress }, round) {
  for (const name of inTurn(names, round)) {
    await bench.servers[name]?.stop();
    const { startUp } = await bench.start(name);
    (results.startUps[name] ??= []).push(startUp);
    progress(`start-up, round ${round + 1} of ${options.rounds}: ${name} ${startUp.toFixed(2)} s`);
  }
}

/** @returns by work: the assignments of the servers that take part, by their names */
async function assignAll(bench, { works, names, results }) {
  const assigned = new Map();
  for (const work of works) {
    const assignments = {};
    for (const name of names.filter((one) => takesPart(one, work))) {
      const prepared = await bench.prepared(work, name);
      if (prepared === undefined) results.note(`${work.name} was skipped on ${name}, which has no /api/v2.`);
      else assignments[name] = new Assignment(bench, work, name, prepared);
    }
    assigned.set(work, assignments);
  }
  // What they have prepared stays.
  for (const assignments of assigned.values())
    for (const assignment of Object.values(assignments)) await assignment.mark();
  return assigned;
}

export function takesPart(name, { only, large, variants }) {
  if (name in VARIANTS) return variants?.includes(name) ?? false;
  if (name === 'large') return large === true;
  return only?.includes(name === 'before' ? 'product' : name) ?? true;
}

async function measureRound(bench, work, assignments, round, { options, results, progress }) {
  const names = Object.keys(assignments);
  const { turn = 1 } = work;
  // Works of the round before have changed rows.
  delete bench.expected[work.name];
  const turns = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) {
    const failure = await assignments[name].warmUp().catch(invalid);
    if (failure) turns[name].push(failure);
  }
  const order = inTurn(names, round);
  // While others were warmed up, a pool has closed its idle connections, and a processor has forgotten.
  for (const name of order) {
    if (turns[name].length === 0) await assignments[name].send(1).catch(invalid);
  }
  for (let number = 0; number < Math.max(1, Math.round(options.seconds / turn)); number++) {
    for (const name of order) {
      const isLost = turns[name].some(({ invalid }) => invalid);
      if (!isLost) turns[name].push(await assignments[name].measure(turn).catch(invalid));
    }
  }
  for (const name of names) {
    const measurement = sumOf(turns[name]);
    results.add(work.name, name, round, measurement);
    results.addMemory(name, bench.servers[name].memory);
    await assignments[name].restore();
    progress(`${work.name}, round ${round + 1}: ${name} ${measurement.invalid ?? `${Math.round(measurement.rate)}/s`}`);
  }
}

/** At shares of what each server has just shown that it can do. */
async function measureLatency(assignments, work, { options: { rounds, seconds }, results, progress }) {
  const servers = STEADY_SERVERS.filter((name) => results.figure(work.name, name, 'rate') !== undefined);
  for (const { share, keyOf, title } of RATES) {
    for (let round = 0; round < rounds; round++) {
      for (const name of inTurn(servers, round)) {
        const rate = share * results.figure(work.name, name, 'rate');
        const measurement = await assignments[name].measureAt(rate, seconds).catch(invalid);
        await assignments[name].restore();
        results.add(keyOf(work.name), name, round, measurement);
        const said = measurement.invalid ?? `p99 ${measurement.p99.toFixed(2)} ms`;
        progress(`${work.name} at ${title}, round ${round + 1}: ${name} ${said}`);
      }
    }
  }
}

function invalid({ message }) {
  return { invalid: message };
}

/**
 * A B C in the first round, B C A in the second ...: each is first as often as the others. No server takes two turns in a row, for
 * the second of which it would find the caches of the core filled by itself.
 */
function inTurn(names, round) {
  const first = round % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

/** All turns of a server in a round as one measurement. Percentiles are medians of the turns. */
function sumOf(turns) {
  const wrong = turns.find(({ invalid }) => invalid);
  if (wrong) return wrong;
  const sum = (figureOf) => turns.reduce((total, turn) => total + figureOf(turn), 0);
  const requests = sum((turn) => turn.requests);
  const ofAll = (name) => sum((turn) => turn[name] * turn.requests) / requests;
  const medianOf = (name) => median(turns.map((turn) => turn[name]));
  return {
    requests,
    rate: requests / sum((turn) => turn.requests / turn.rate),
    serverCpu: ofAll('serverCpu'),
    postgresCpu: ofAll('postgresCpu'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    p999: medianOf('p999'),
  };
}
