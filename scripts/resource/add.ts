import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import prettier from 'prettier';
import { MIGRATIONS, textsOf } from './files';
import type { Plan } from './plan';

/** The formatted texts of all files that a resource needs, by path. */
export async function filesOf(plan: Plan, time: number): Promise<Map<string, string>> {
  const texts = [...textsOf(plan, time)];
  return new Map(await Promise.all(texts.map(async ([path, text]) => [path, await formatted(path, text)] as const)));
}

export async function formatted(path: string, text: string): Promise<string> {
  const options = await prettier.resolveConfig(path);
  return prettier.format(text, { ...options, filepath: path });
}

/** Later than all migrations, also where a clock is slow. */
export function nextTime(): number {
  const times = readdirSync(MIGRATIONS).map((name) => parseInt(name, 10));
  return Math.max(Date.now(), ...times.map((time) => time + 1));
}

export function write(files: Map<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** @throws {Error} if the documents can't be made */
export function writeDocuments(): void {
  const command = ['-r', '@swc-node/register', 'scripts/openapi/main.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm run openapi failed:\n${stdout}${stderr}`);
}
