import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Filler, firstNumber } from './markers.mjs';
import { pinned } from './pinning.mjs';

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));
const OPEN_LOOP = fileURLToPath(new URL('open-loop.mjs', import.meta.url));
const MICROSECONDS = 1_000_000;

/** What the options of a run say about its load. */
export function describeLoad({ connections, keepAlive, gzip }) {
  const exceptions = [...(keepAlive ? [] : ['a connection for each request']), ...(gzip ? ['gzip accepted'] : [])];
  return ['wrk, 1 thread', connections === 1 ? '1 connection' : `${connections} connections`, ...exceptions].join(', ');
}

/** @throws {Error} when wrk isn't installed */
export function requireWrk() {
  if (spawnSync('wrk', ['--version']).error) throw new Error('wrk is missing; on Debian: apt-get install wrk');
}

/**
 * Writes requests in HTTP's text form, for sendLoad().
 * @param requests `{ method, path, headers, body }`, the body as textOf() takes it
 */
export function writeRequests(file, requests) {
  writeFileSync(file, requests.map((request) => `${serialise(request)}\0`).join(''));
}

/**
 * Sends the requests of a file in turn, repeatedly, for some seconds.
 * @returns `{ rate, requests, p50, p99, p999, refused, failures }`: requests per second, their number, milliseconds, the
 *   number of answers with an error status, and the number of failed connections
 */
export async function sendLoad(url, file, { seconds, core, connections }) {
  const words = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '--latency', '-s', SCRIPT, url];
  const [command, all] = pinned(core, 'wrk', words);
  const env = { PATH: process.env.PATH, REQUESTS: file, FIRST_NUMBER: String(firstNumber()) };
  const { stdout } = await promisify(execFile)(command, all, { env });
  const { requests, duration, refused, failures, p50, p99, p999 } = JSON.parse(stdout.trim().split('\n').at(-1));
  return {
    rate: (requests * MICROSECONDS) / duration,
    requests,
    p50: p50 / 1_000,
    p99: p99 / 1_000,
    p999: p999 / 1_000,
    refused,
    failures,
  };
}

/**
 * Sends the requests of a file at a rate; see open-loop.mjs.
 * @returns what sendLoad() does, and `unanswered`, the requests without an answer, and `late`, milliseconds by which the
 *   sender itself was late
 */
export async function sendSteadily(url, file, { rate, seconds, core, connections }) {
  const { hostname, port } = new URL(url);
  const [command, words] = pinned(core, process.execPath, [OPEN_LOOP]);
  const numbers = { RATE: rate, SECONDS: seconds, CONNECTIONS: connections, FIRST_NUMBER: firstNumber() };
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  const env = { PATH: process.env.PATH, HOST: hostname, PORT: port, REQUESTS: file, ...Object.fromEntries(texts) };
  const { stdout } = await promisify(execFile)(command, words, { env });
  return JSON.parse(stdout);
}

/** @param body an object, the text of one, or undefined */
export function textOf(body = '') {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function serialise({ method, path, headers, body }) {
  const text = textOf(body);
  const all = { Host: 'localhost', Accept: '*/*', ...headers };
  if (text !== '')
    Object.assign(all, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(new Filler().fill(text)),
    });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
