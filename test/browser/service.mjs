// The built service on a free port, with an embedded database that is thrown away.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const STOP_LIMIT = 20_000;
/** The program of the tested application. */
const { program: TESTED } = JSON.parse(readFileSync('test/support/application-places.json', 'utf8'));

/**
 * @param settings environment variables besides those that it always has
 * @param program what to run
 */
export async function startService(settings = { DEMO_DATA: 'true' }, program = TESTED) {
  const { status } = spawnSync(process.execPath, ['scripts/build-if-changed.mjs', '--tests'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed');
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-service-'));
  const environment = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: directory, ...settings };
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    await stopped(child);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return { url: `http://127.0.0.1:${await announcedPort(child)}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function announcedPort({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    // The first lines may come from before there is a logger.
    const { port } = line.startsWith('{') ? JSON.parse(line) : {};
    if (port === undefined) continue;
    stdout.resume();
    return port;
  }
  throw new Error('The service ended before it said where it listens');
}

/** By SIGTERM, as its database has to stop with it. */
async function stopped(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT);
  await new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
  clearTimeout(timer);
}
