// How large uploads affect the service: `node bench/uploads.mjs resume` and `node bench/uploads.mjs fair`.
import { fork, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Upload } from 'tus-js-client';
import { build, PRODUCT } from './servers.mjs';

const HELP = `Measures large uploads, from a fresh start on the embedded database.

  node bench/uploads.mjs resume [--size 2048] [--kills 2]
      a file of so many MiB by tus-js-client, while the service is killed so often; what comes back is compared
  node bench/uploads.mjs fair [--clients 20] [--rounds 5] [--seconds 10] [--readers 4] [--pause 0]
      the latency of GET /users/profile, without uploads and beside them, in turn; readers wait for so many milliseconds
      between two requests
`;
const MEBIBYTE = 1024 * 1024;
const PIECE = 8 * MEBIBYTE;
/** Bytes that are sent before memory is measured: what a process allocates once, for the first upload, isn't growth. */
const WARM_UP = 128 * MEBIBYTE;
/** The interval between measurements of memory, in milliseconds. */
const SAMPLING = 50;
const SIGN_IN = { username: 'ada', password: 'demo-password' };

/** The service with the demo data of its first start. */
class Service {
  peak = 0;

  static async start(directory) {
    const service = new Service();
    service.directory = directory;
    service.port = await freePort();
    await service.restart();
    return service;
  }

  async restart() {
    const { PATH } = process.env;
    const env = {
      PATH,
      PORT: String(this.port),
      DATA_DIR: this.directory,
      UPLOAD_QUOTA: String(2 ** 40),
      // All uploads belong to one user.
      UPLOAD_MAX_OPEN_PER_USER: '1000',
      UPLOAD_MAX_OPEN: '1000',
      LOG_LEVEL: 'warn',
    };
    this.process = spawn(process.execPath, [...PRODUCT.nodeOptions, 'dist/main.js'], { env, stdio: 'inherit' });
    while (!(await fetch(`${this.url}/health/ready`).catch(() => ({ ok: false }))).ok) await sleep(SAMPLING);
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resident memory in bytes. */
  get memory() {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) * 1024;
  }

  async end(signal) {
    const exit = once(this.process, 'exit');
    this.process.kill(signal);
    await exit;
  }

  async signIn() {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(SIGN_IN) };
    const { data } = await (await fetch(`${this.url}/api/v1/auth/tokens`, init)).json();
    return { Authorization: `Bearer ${data.access_token}` };
  }
}

async function resume({ size, kills }) {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-uploads-'));
  const file = join(directory, 'file');
  const bytes = size * MEBIBYTE;
  const sent = await fill(file, bytes);
  const service = await Service.start(join(directory, 'data'));
  try {
    const headers = await service.signIn();
    if (kills === 0) await sendThroughKills(service, { file, bytes: Math.min(bytes, WARM_UP), headers, kills });
    // A process that is killed meanwhile has no meaningful memory growth.
    const growth = kills === 0 ? new Growth(service) : undefined;
    const started = performance.now();
    const upload = await sendThroughKills(service, { file, bytes, headers, kills });
    const seconds = (performance.now() - started) / 1_000;
    const { data } = await (await fetch(upload, { headers })).json();
    const received = await hashOf((await fetch(`${upload}/content`, { headers })).body);
    console.log(
      `Sent ${size} MiB in ${seconds.toFixed(1)} s, ${Math.round(size / seconds)} MiB/s, through ${kills} kills.`,
    );
    if (growth) console.log(`Resident memory grew by at most ${toMebibytes(growth.report())} MiB.`);
    const same = received === sent && data.checksum === sent;
    console.log(
      same ? `What came back has the same SHA-256: ${sent}` : `DIFFERENT: ${sent} ${received} ${data.checksum}`,
    );
    if (!same) process.exitCode = 1;
  } finally {
    await service.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Resolves to the URL of the upload. */
function sendThroughKills(service, { file, bytes, headers, kills }) {
  const moments = Array.from({ length: kills }, (_, index) => ((index + 1) * bytes) / (kills + 1));
  return new Promise((resolve, reject) => {
    const upload = new Upload(createReadStream(file, { end: bytes - 1 }), {
      endpoint: `${service.url}/api/v1/uploads`,
      uploadSize: bytes,
      chunkSize: 256 * MEBIBYTE,
      headers,
      metadata: { filename: 'large.bin' },
      retryDelays: Array.from({ length: 100 }, () => 200),
      onProgress: (sent) => {
        if (moments.length === 0 || sent < moments[0]) return;
        moments.shift();
        void service.end('SIGKILL').then(() => service.restart());
      },
      onError: reject,
      onSuccess: () => resolve(upload.url),
    });
    upload.start();
  });
}

/** Measures how much memory grows. */
class Growth {
  constructor(service) {
    const before = service.memory;
    this.most = 0;
    this.timer = setInterval(() => (this.most = Math.max(this.most, service.memory - before)), SAMPLING);
  }

  report() {
    clearInterval(this.timer);
    return this.most;
  }
}

async function fair({ clients, rounds, ...reading }) {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-uploads-'));
  const service = await Service.start(directory);
  try {
    const headers = await service.signIn();
    await latencies(service, headers, reading);
    const ratios = [];
    for (let round = 0; round < rounds; round++) {
      const alone = await latencies(service, headers, reading);
      const uploads = fork(fileURLToPath(import.meta.url), ['send'], {
        env: { ...process.env, CLIENTS: String(clients) },
      });
      uploads.send({ url: service.url, headers });
      await once(uploads, 'message');
      const beside = await latencies(service, headers, reading);
      uploads.send('stop');
      const [sent] = await once(uploads, 'message');
      await once(uploads, 'exit');
      ratios.push(beside.p99 / alone.p99);
      console.log(
        `Alone ${show(alone)}; beside ${clients} uploads ${show(beside)}, ` +
          `which brought ${Math.round(sent / MEBIBYTE / reading.seconds)} MiB/s: p99 by ${ratios.at(-1).toFixed(2)}`,
      );
    }
    console.log(`Median of the ratios of p99: ${ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)].toFixed(2)}`);
  } finally {
    await service.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  }
}

const show = ({ count, p50, p99 }) => `${count} requests, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

async function latencies(service, headers, { seconds, readers, pause }) {
  const times = [];
  const deadline = performance.now() + seconds * 1_000;
  const read = async () => {
    while (performance.now() < deadline) {
      const start = performance.now();
      const answer = await fetch(`${service.url}/api/v1/users/profile`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`GET /users/profile was answered ${answer.status}`);
      times.push(performance.now() - start);
      if (pause) await sleep(pause);
    }
  };
  await Promise.all(Array.from({ length: readers }, read));
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(share * (times.length - 1))];
  return { count: times.length, p50: at(0.5), p99: at(0.99) };
}

/** Runs in a process of its own: uploads until it is told to stop, and reports the number of bytes. */
async function send() {
  const [{ url, headers }] = await once(process, 'message');
  const piece = randomBytes(PIECE);
  let stopped = false;
  let sent = 0;
  process.once('message', () => (stopped = true));
  const upload = async () => {
    const tus = { ...headers, 'Tus-Resumable': '1.0.0' };
    while (!stopped) {
      const length = String(32 * PIECE);
      const created = await fetch(`${url}/api/v1/uploads`, {
        method: 'POST',
        headers: { ...tus, 'Upload-Length': length },
      });
      const path = created.headers.get('location');
      for (let at = 0; at < 32 && !stopped; at++) {
        const chunk = { 'Upload-Offset': String(at * PIECE), 'Content-Type': 'application/offset+octet-stream' };
        const { status } = await fetch(url + path, { method: 'PATCH', headers: { ...tus, ...chunk }, body: piece });
        if (status !== 204) throw new Error(`PATCH was answered ${status}`);
        sent += PIECE;
      }
      await fetch(url + path, { method: 'DELETE', headers: tus });
    }
  };
  const all = Promise.all(Array.from({ length: Number(process.env.CLIENTS) }, upload));
  process.send('started');
  await all;
  process.send(sent, () => process.disconnect());
}

async function fill(path, bytes) {
  const hash = createHash('sha256');
  const file = createWriteStream(path);
  for (let at = 0; at < bytes; at += PIECE) {
    const piece = randomBytes(Math.min(PIECE, bytes - at));
    hash.update(piece);
    if (!file.write(piece)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
  return hash.digest('hex');
}

async function hashOf(stream) {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function toMebibytes(bytes) {
  return (bytes / MEBIBYTE).toFixed(0);
}

const number = (value) => ({ type: 'string', default: String(value) });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ size: number(2048), kills: number(2), clients: number(20), rounds: number(5), seconds: number(10) },
    ...{ readers: number(4), pause: number(0) },
    help: { type: 'boolean' },
  },
});
const options = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const command = { resume, fair, send }[positionals[0]];
if (!command || values.help) console.log(HELP);
else {
  if (command !== send) build(['product']);
  await command(options);
}
