// A real Prometheus, with the rules of ops/prometheus, and what it is asked.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { URLSearchParams } from 'node:url';

const START_LIMIT_MS = 30_000;
const POLL_MS = 200;

/** @returns where programs of Prometheus are that can be had; undefined if there are none */
export function findPrometheus() {
  const isThere = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  return isThere('prometheus') && isThere('promtool');
}

/** @throws {Error} with what promtool says */
export function promtool(...words) {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${words.join(' ')}\n${stdout}${stderr}`);
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

export class Prometheus {
  /** @param ports METRICS_PORT of each instance */
  static async start(ports) {
    const directory = mkdtempSync(join(tmpdir(), 'resource-api-prometheus-'));
    const config = join(directory, 'prometheus.yml');
    const targets = ports.map((port) => `127.0.0.1:${port}`);
    // JSON is YAML, too.
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
        rule_files: [resolve('ops/prometheus/alerts.yml')],
        scrape_configs: [{ job_name: 'resource-api', static_configs: [{ targets }] }],
      }),
    );
    const port = await freePort();
    const storage = `--storage.tsdb.path=${join(directory, 'data')}`;
    const child = spawn('prometheus', [`--config.file=${config}`, storage, `--web.listen-address=127.0.0.1:${port}`], {
      stdio: 'ignore',
    });
    const prometheus = new Prometheus(child, directory, `http://127.0.0.1:${port}`);
    await prometheus.isReady();
    return prometheus;
  }

  constructor(child, directory, url) {
    Object.assign(this, { child, directory, url });
  }

  async isReady() {
    for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; await sleep(POLL_MS)) {
      const answer = await fetch(`${this.url}/-/ready`).catch(() => undefined);
      if (answer?.ok) return;
    }
    await this.stop();
    throw new Error('Prometheus does not become ready');
  }

  async ask(path, parameters = {}) {
    const answer = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = await answer.json();
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}\n${parameters.query ?? ''}`);
    return body.data;
  }

  /** @returns the series of a query, from one moment to another, in seconds: `[{ metric, values: [[time, value]] }]` */
  async range(query, start, end) {
    const { result } = await this.ask('query_range', { query, start, end, step: 1 });
    return result.map(({ metric, values }) => ({
      metric,
      values: values.map(([time, value]) => [time, Number(value)]).filter(([, value]) => Number.isFinite(value)),
    }));
  }

  async stop() {
    if (this.child.exitCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
