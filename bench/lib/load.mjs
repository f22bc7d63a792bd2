import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Filler, firstNumber } from './markers.mjs';
import { pinned } from './pinning.mjs';

const CONNECTIONS = 32;
const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));
const MICROSECONDS = 1_000_000;

export const LOAD = `wrk, 1 thread, ${CONNECTIONS} connections`;

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
export async function sendLoad(url, file, { seconds, core }) {
  const words = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '30s', '--latency', '-s', SCRIPT, url];
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
