import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pinned } from './pinning.mjs';
import { cpuOf, familyOf, isAsleep, residentMemoryOf } from './proc.mjs';

const HOST = '127.0.0.1';
const POLL_MS = 4;
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;

/** Sent with every request, like by the proxy in front of a server in production. */
export const PROXY_HEADERS = { 'X-Forwarded-Proto': 'https' };

/** A measured server, while it runs. */
export class ServerProcess {
  /**
   * Starts a server, and waits for its first answer with status 200.
   * @param server `{ name, script, environment, folder, node }`; `folder` is where it runs, `node` what it runs on
   * @param options `core` to run on, `probe` the requested path, `nodeOptions` of the command line, `logs` a folder
   */
  static async start(
    { name, script, environment, folder, node = process.execPath },
    { core, probe, nodeOptions = [], logs },
  ) {
    const port = await freePort();
    const [command, words] = pinned(core, node, [...nodeOptions, script]);
    const started = performance.now();
    const output = logs === undefined ? 'ignore' : openSync(join(logs, `${name}.log`), 'a');
    const child = spawn(command, words, {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', HOST, PORT: String(port), ...environment },
      stdio: ['ignore', output, 'inherit'],
    });
    if (logs !== undefined) closeSync(output);
    const server = new ServerProcess(name, child, port);
    try {
      await server.firstAnswer(probe);
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.startUp = (performance.now() - started) / 1_000;
    return server;
  }

  /** Seconds from the start to the first 200. */
  startUp;

  constructor(name, child, port) {
    this.name = name;
    this.child = child;
    this.port = port;
    this.url = `http://${HOST}:${port}`;
  }

  /** CPU time of all its processes so far, in milliseconds. */
  get cpu() {
    return this.sum(cpuOf);
  }

  /** Resident memory of all its processes in bytes. */
  get memory() {
    return this.sum(residentMemoryOf);
  }

  /** Whether it has nothing left to do: a process with something to read is awake, even if others have the cores. */
  get isAsleep() {
    return familyOf(this.child.pid).every(isAsleep);
  }

  sum(figureOf) {
    return familyOf(this.child.pid).reduce((sum, pid) => sum + (figureOf(pid) ?? 0), 0);
  }

  get running() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop() {
    if (!this.running) return;
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
    clearTimeout(timer);
  }

  async firstAnswer(path) {
    for (const end = performance.now() + START_LIMIT_MS; performance.now() < end; await sleep(POLL_MS)) {
      if (!this.running) throw new Error(`${this.name} ended before it answered`);
      if ((await statusOf(this.url + path)) === 200) return;
    }
    throw new Error(`${this.name} does not answer ${path} with 200`);
  }
}

/** Undefined if the connection is refused. */
function statusOf(url) {
  return new Promise((resolve) => {
    const asking = request(url, { agent: false, headers: PROXY_HEADERS }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on('error', () => resolve(undefined));
    asking.end();
  });
}

async function freePort() {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
