// The measurements of a work on a server.
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { headersOf } from './callers.mjs';
import { becomeIdle, markTables, restoreTables, versionsOf } from './database.mjs';
import { sendLoad, sendSteadily, textOf, writeRequests } from './load.mjs';
import { Filler, versionMarker } from './markers.mjs';
import { cpuBetween, postgresCpu } from './postgres-cpu.mjs';
import { randomFrom } from './statistics.mjs';

const REQUESTS = 10_000;
const SEED = 1;
/**
 * V8 compiles what is called often, so a server that answers a thousand requests a second gets fast later than one that answers ten
 * thousand. The warm-up is therefore over when two steps in a row were no faster than the best before, and not after a time.
 * After one such step it would end too early: a shared machine has slow seconds.
 */
const WARM_UP_STEP_SECONDS = 2;
const MAX_WARM_UP_STEPS = 10;
/** The rate of a step to the best before from which on the server is getting faster. */
const FASTER = 1.02;
const VAIN_STEPS = 2;
/** Milliseconds by which a hundredth of the requests may be sent too late. */
const MAX_LATENESS = 10;

/** A work on a server. The requests are made once, and the answer to the first one is checked each time. */
export class Assignment {
  /** @param bench the set-up of run.mjs: servers, data, tokens, cores ... */
  constructor(bench, work, serverName, prepared) {
    this.bench = bench;
    this.work = work;
    this.serverName = serverName;
    this.client = bench.clientOf(serverName);
    this.file = join(bench.directory, `${work.name}-${serverName}.requests`);
    this.requests = makeRequests(bench, work, serverName, prepared);
    writeRequests(this.file, this.requests);
  }

  /** The process of this round. */
  get server() {
    return this.bench.servers[this.serverName];
  }

  /** Checks an answer, and sends requests until the server gets no faster. @throws {Error} an answer that is wrong */
  async warmUp() {
    const wrong = await this.checkAnswer();
    if (wrong) throw new Error(wrong);
    const leastSteps = (this.work.warmUp ?? 0) / WARM_UP_STEP_SECONDS;
    let best = 0;
    let vainSteps = 0;
    for (let step = 1; step <= Math.max(MAX_WARM_UP_STEPS, leastSteps); step++) {
      const { rate } = await this.send(WARM_UP_STEP_SECONDS);
      vainSteps = rate > best * FASTER ? 0 : vainSteps + 1;
      best = Math.max(best, rate);
      if (vainSteps >= VAIN_STEPS && step >= leastSteps) return;
    }
  }

  /**
   * As many requests as the server can answer, after a warm-up.
   * @returns `{ rate, p50, p99, p999, serverCpu, postgresCpu }`: requests per second, milliseconds, and milliseconds of CPU
   *   per 1,000 requests; `window`, the time of the measurement; or `{ invalid }`, the reason why the measurement is
   *   invalid
   */
  measure(seconds) {
    return this.observe(() => this.send(seconds));
  }

  /** At a rate, without a warm-up. @returns what measure() does */
  measureAt(rate, seconds) {
    return this.observe(async () => {
      await this.writeVersions();
      const { cores, options } = this.bench;
      const how = { rate, seconds, core: cores.others, connections: options.connections };
      const load = await sendSteadily(this.server.url, this.file, how);
      await becomeIdle(this.client, this.server);
      return load;
    });
  }

  /** Measures CPU beside a load. */
  async observe(send) {
    const { server } = this;
    const before = { server: server.cpu, postgres: await this.postgres() };
    const from = now();
    const load = await send();
    const window = { from, to: now() };
    const used = { server: server.cpu - before.server, postgres: cpuBetween(before.postgres, await this.postgres()) };
    if (load.requests === 0) return { invalid: 'not one answer in time' };
    if (load.unanswered > 0) return { invalid: `${load.unanswered} requests had no answer: the rate is too high` };
    if (load.late > MAX_LATENESS)
      return { invalid: `the sender was ${load.late.toFixed(1)} ms late: the rate is too high for it` };
    if (load.refused + load.failures > 0)
      return { invalid: `${load.refused} error answers and ${load.failures} failed connections of ${load.requests}` };
    const perThousand = (cpu) => (Number.isFinite(cpu) ? (1_000 * cpu) / load.requests : undefined);
    return {
      ...load,
      window,
      serverCpu: perThousand(used.server),
      postgresCpu: perThousand(used.postgres),
    };
  }

  async send(seconds) {
    await this.writeVersions();
    const { cores, options } = this.bench;
    const { connections } = options;
    const load = await sendLoad(this.server.url, this.file, { seconds, core: cores.others, connections });
    await becomeIdle(this.client, this.server);
    return load;
  }

  /** Notes what restore() leaves. */
  async mark() {
    this.marks = await markTables(this.client, this.work.writes ?? []);
  }

  async restore() {
    await restoreTables(this.client, this.work.writes ?? [], this.marks);
  }

  /** Each request names the version that its row has by then: that of the database now, and one more for each change. */
  async writeVersions() {
    const expecting = this.requests.filter(({ expects }) => expects);
    if (expecting.length === 0) return;
    const { table } = expecting[0].expects;
    const ids = expecting.map(({ expects }) => expects.id);
    const versions = await versionsOf(this.client, table, ids);
    const steps = new Map();
    for (const id of ids) steps.set(id, (steps.get(id) ?? 0) + 1);
    for (const { expects, headers } of expecting) {
      const version = versions.get(expects.id);
      headers['If-Match'] = `"${versionMarker(version, steps.get(expects.id))}"`;
      versions.set(expects.id, version + 1);
    }
    writeRequests(this.file, this.requests);
  }

  postgres() {
    return postgresCpu(this.client, this.bench.postmaster);
  }

  /** Checks one answer before thousands are requested: it must equal the answers of the other servers. */
  async checkAnswer() {
    await this.writeVersions();
    const filler = new Filler();
    const { method, path, headers, body } = this.requests[0];
    const filled = Object.entries(headers).map(([name, value]) => [name, filler.fill(value)]);
    const response = await fetch(this.server.url + path, {
      method,
      headers: { ...Object.fromEntries(filled), ...(body && { 'Content-Type': 'application/json' }) },
      body: body && filler.fill(textOf(body)),
    });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 201) return `status ${response.status}: ${text.slice(0, 200)}`;
    if (this.work.writes || ['before', 'large'].includes(this.server.name)) return undefined;
    const { expected } = this.bench;
    const found = contentOf(text);
    expected[this.work.name] ??= found;
    return isDeepStrictEqual(found, expected[this.work.name]) ? undefined : 'the answer is not what the others answer';
  }
}

/** The content of an answer without its envelope: the reference servers have none, and put the total beside `data`. */
function contentOf(text) {
  if (!text.startsWith('{')) return text;
  const body = JSON.parse(text);
  const total = body.total ?? body.pagination?.total;
  return total === undefined ? (body.data ?? body) : { data: body.data, total };
}

/** Microseconds of the monotonic clock, which V8's profiles use. */
function now() {
  return Number(process.hrtime.bigint() / 1_000n);
}

function headersOfRun({ keepAlive, gzip }) {
  return { ...(!keepAlive && { Connection: 'close' }), ...(gzip && { 'Accept-Encoding': 'gzip' }) };
}

function makeRequests(bench, work, server, prepared) {
  const random = randomFrom(SEED);
  const data = bench.dataOf(server);
  const tokens = bench.tokens[server] ?? bench.tokens.product;
  return Array.from({ length: REQUESTS }, (_, place) => {
    const { as, headers, ...request } = work.request({ data, random, place, server, prepared });
    return { ...request, headers: { ...headersOf(tokens, as, place), ...headersOfRun(bench.options), ...headers } };
  });
}
