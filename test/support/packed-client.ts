import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { npmClient } from './client';

const run = promisify(execFile);
/** What a stranger has beside the package, linked. */
const LINKED = ['tus-js-client', '@types/node'];

/** A project that has the packed client, installed as a stranger does it: from the file alone. */
export function usePackedClient() {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-client-package-'));
  const packed = {
    directory,
    inside: (path: string) => join(directory, 'node_modules/resource-api-client', path),
    write: (name: string, text: string) => writeFileSync(join(directory, name), text),
    run: (program: string, ...words: string[]) => run(program, words, { cwd: directory }),
    node: (...words: string[]) => packed.run(process.execPath, ...words),
    /** Starts a program that is to be killed. */
    start: (...words: string[]) => spawn(process.execPath, words, { cwd: directory, stdio: 'inherit' }),
  };

  beforeAll(async () => {
    const file = npmClient('pack', directory).trim();
    packed.write('package.json', JSON.stringify({ private: true, type: 'module' }));
    await packed.run('npm', 'install', '--offline', '--no-audit', '--no-fund', '--omit=peer', file);
    mkdirSync(join(directory, 'node_modules/@types'), { recursive: true });
    for (const name of LINKED) {
      symlinkSync(resolve('node_modules', name), join(directory, 'node_modules', name), 'junction');
    }
  }, 120_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return packed;
}
