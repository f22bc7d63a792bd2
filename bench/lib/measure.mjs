// One measurement: a work, on a server, in a round.
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { headersOf } from './callers.mjs';
import { becomeIdle } from './database.mjs';
import { sendLoad, writeRequests } from './load.mjs';
import { cpuBetween, postgresCpu } from './postgres-cpu.mjs';
import { randomFrom } from './statistics.mjs';

const REQUESTS = 10_000;
const SEED = 1;
// V8 compiles hot code, which takes some seconds on a slow machine.
const FIRST_WARM_UP_SECONDS = 5;
const WARM_UP_SECONDS = 1;

/** A work on a server. The requests are made once, and the answer to the first one is checked each time. */
export class Assignment {
  /** @param bench the set-up of run.mjs: servers, data, tokens, cores ... */
  constructor(bench, work, serverName, prepared) {
    this.bench = bench;
    this.work = work;
    this.server = bench.servers[serverName];
    this.client = bench.clients[serverName] ?? bench.clients.main;
    this.file = join(bench.directory, `${work.name}-${serverName}.requests`);
    const requests = makeRequests(bench, work, serverName, prepared);
    this.first = requests[0];
    writeRequests(this.file, requests);
    this.warmUp = FIRST_WARM_UP_SECONDS;
  }

  /**
   * @returns `{ rate, p50, p99, serverCpu, postgresCpu }`: requests per second, milliseconds, and milliseconds of CPU
   *   per 1,000 requests; `window`, the time of the measurement; or `{ invalid }`, the reason why the measurement is
   *   invalid
   */
  async measure(seconds) {
    const { server } = this;
    const wrong = await this.checkAnswer();
    if (wrong) return { invalid: wrong };
    await this.send(this.warmUp);
    this.warmUp = WARM_UP_SECONDS;

    const before = { server: server.cpu, postgres: await this.postgres() };
    const from = now();
    const load = await this.send(seconds * (this.work.patience ?? 1));
    const window = { from, to: now() };
    const used = { server: server.cpu - before.server, postgres: cpuBetween(before.postgres, await this.postgres()) };
    if (load.requests === 0) return { invalid: 'not one answer in time' };
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
    const load = await sendLoad(this.server.url, this.file, { seconds, core: this.bench.cores.others });
    await becomeIdle(this.client);
    return load;
  }

  postgres() {
    return postgresCpu(this.client, this.bench.postmaster);
  }

  /** Checks one answer before thousands are requested: it must equal the answers of the other servers. */
  async checkAnswer() {
    const { method, path, headers, body } = this.first;
    const response = await fetch(this.server.url + path, {
      method,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 201) return `status ${response.status}: ${text.slice(0, 200)}`;
    if (this.work.writes || ['before', 'million'].includes(this.server.name)) return undefined;
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

function makeRequests({ data, tokens }, work, server, prepared) {
  const random = randomFrom(SEED);
  return Array.from({ length: REQUESTS }, (_, place) => {
    const { as, ...request } = work.request({ data, random, place, server, prepared });
    return { ...request, headers: headersOf(tokens[server] ?? tokens.product, as, place) };
  });
}
