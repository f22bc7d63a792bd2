// npm run generators: makes clients of both documents by five generators, compiles them strictly and calls a started service
// with each. The generators are in a folder of their own outside of the repository, as they are many packages.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../test/browser/service.mjs';
import { VERSIONS } from '../openapi/documents';
import { type Document, PACKAGES, type Tool, TOOLS } from './tools';

const FOLDER = join(tmpdir(), 'resource-api-generators');
const CALLS = 'scripts/generators/calls';
const STRICT = ['strict', 'exactOptionalPropertyTypes', 'noUncheckedIndexedAccess', 'noImplicitReturns'];

/** What one generator's client did. */
interface Row {
  generator: string;
  files: number;
  lines: number;
  /** The compiler's messages. */
  errors: string[];
  /** Each call, and what came of it. */
  calls: Record<string, string>;
}

async function main(): Promise<void> {
  install();
  const { url, stop } = await startService({ DEMO_DATA: 'true' });
  try {
    const documents = await Promise.all(VERSIONS.map((version) => saved(url, version)));
    const asked = process.argv.slice(2);
    const tools = TOOLS.filter(({ name }) => asked.length === 0 || asked.includes(name));
    const rows = tools.map((tool) => tried(tool, documents, url));
    report(rows);
    if (rows.some(({ errors, calls }) => errors.length > 0 || Object.values(calls).some(isWrong))) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** A call tells its status, and what was wrong with its answer. */
const isWrong = (result: string): boolean => !/^\d{3}$/.test(result);

/** Installs the generators, unless these versions are there. */
function install(): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(
    join(FOLDER, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: PACKAGES }),
  );
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--silent']);
}

async function saved(url: string, version: number): Promise<Document> {
  const answer = await fetch(url + (version === 1 ? '/docs/json' : `/docs/v${version}/json`));
  const path = join(FOLDER, `v${version}.json`);
  writeFileSync(path, await answer.text());
  return { version: `v${version}`, path };
}

function tried(tool: Tool, documents: Document[], url: string): Row {
  const generator = tool.name;
  const name = generator.replace(/\W+/g, '-').replace(/^-/, '');
  const output = join('out', name);
  rmSync(join(FOLDER, output), { recursive: true, force: true });
  generate(tool, documents, output, url);
  const { files, lines } = sizeOf(join(FOLDER, output));
  // The calls are about the examples, which a clone may have removed.
  const isCallable = documents.every(({ path }) => readFileSync(path, 'utf8').includes('/orders"'));
  if (isCallable) cpSync(join(CALLS, `${name}.ts`), join(FOLDER, output, 'calls.ts'));
  const errors = compiled(tool, output);
  return { generator, files, lines, errors, calls: isCallable && errors.length === 0 ? called(output, url) : {} };
}

function generate(tool: Tool, documents: Document[], output: string, url: string): void {
  const config = tool.config?.(documents, output, url);
  if (config) writeFileSync(join(FOLDER, config.file), config.text);
  for (const [program, ...parameters] of tool.commands(documents, output)) {
    run(join(FOLDER, 'node_modules', '.bin', program), parameters);
  }
}

function sizeOf(folder: string): { files: number; lines: number } {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const lines = names.map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length);
  return { files: names.length, lines: lines.reduce((sum, one) => sum + one, 0) };
}

/** Compiles both versions and the calls as one program. */
function compiled({ lenient = [] }: Tool, output: string): string[] {
  const options = {
    ...Object.fromEntries(STRICT.map((name) => [name, !lenient.includes(name)])),
    ...{ target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM', 'DOM.Iterable'] },
    ...{ noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] },
  };
  const project = join(FOLDER, output, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions: options, include: ['.'] }));
  const tsc = join(FOLDER, 'node_modules', '.bin', 'tsc');
  const { stdout } = spawnSync(tsc, ['-p', project], { cwd: FOLDER, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

function called(output: string, url: string): Record<string, string> {
  const program = join(output, 'calls.mjs');
  const bundle = ['--bundle', '--platform=node', '--format=esm', '--log-level=warning', `--outfile=${program}`];
  run(join(FOLDER, 'node_modules', '.bin', 'esbuild'), [join(output, 'calls.ts'), ...bundle]);
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], {
    cwd: FOLDER,
    env: { ...process.env, API_URL: url },
    encoding: 'utf8',
  });
  if (status !== 0) return { program: stderr.trim() };
  return JSON.parse(stdout) as Record<string, string>;
}

function run(program: string, parameters: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, parameters, { cwd: FOLDER, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${parameters.join(' ')} failed:\n${stdout}\n${stderr}`);
}

function report(rows: Row[]): void {
  const calls = [...new Set(rows.flatMap((row) => Object.keys(row.calls)))];
  console.table(
    Object.fromEntries(
      rows.map(({ generator, files, lines, errors, calls: results }) => [
        generator,
        {
          files,
          lines,
          errors: errors.length,
          ...Object.fromEntries(calls.map((call) => [call, results[call] ?? '-'])),
        },
      ]),
    ),
  );
  for (const { generator, errors } of rows) {
    if (errors.length > 0) console.log([`${generator}:`, ...errors.slice(0, 20)].join('\n  '));
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
