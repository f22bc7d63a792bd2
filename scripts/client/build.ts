import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { makeTypes } from './types';

const CLIENT = 'client';
/** The entries of the package. */
const ENTRIES = ['index', 'uploads'];
const FILES = ['package.json', 'README.md', '../LICENSE'];
const WINDOWS = process.platform === 'win32';

/** Writes the client's JavaScript to a folder, as one file for each entry and one for what they share. */
export async function bundle(folder: string): Promise<void> {
  await makeTypes();
  await build({
    entryPoints: ENTRIES.map((name) => `${CLIENT}/src/${name}.ts`),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    external: ['tus-js-client'],
    chunkNames: 'shared-[hash]',
    logLevel: 'warning',
  });
}

/**
 * Builds the package in a folder that is thrown away, so that two builds don't disturb each other.
 * @param folder where the package goes
 * @returns its path
 */
export async function pack(folder = `${CLIENT}/packed`): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-client-'));
  try {
    for (const name of FILES) copyFileSync(join(CLIENT, name), join(directory, name.replace('../', '')));
    await bundle(join(directory, 'dist'));
    run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', CLIENT, '--outDir', join(directory, 'dist'));
    mkdirSync(folder, { recursive: true });
    const said = run('npm', 'pack', directory, '--json', '--pack-destination', resolve(folder));
    const [{ filename }] = JSON.parse(said) as { filename: string }[];
    const path = join(folder, 'resource-api-client.tgz');
    renameSync(join(folder, filename), path);
    return path;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @throws {Error} with what the program says */
function run(program: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', shell: WINDOWS });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
