// Builds unless dist/ is newer than all its sources, so that a later start takes a second. With --tests it builds the tested
// application too, where that is another one.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PRODUCT = { program: 'dist/main.js', build: 'tsconfig.start.json' };
const ALWAYS = ['package-lock.json', 'nest-cli.json', 'tsconfig.json'];

buildIfChanged(PRODUCT, ['src']);
if (process.argv.includes('--tests')) {
  const tested = JSON.parse(readFileSync('test/support/application-places.json', 'utf8'));
  if (tested.program !== PRODUCT.program) buildIfChanged(tested, ['src', dirname(tested.build)]);
}

function buildIfChanged({ program, build }, folders) {
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  );
  const inputs = [...folders, ...sources, ...ALWAYS, build];
  if (modified(program) >= Math.max(...inputs.map(modified))) return;
  // Not to the standard output, which belongs to the logs of the service.
  console.error(`Building ${program}, which takes some seconds`);
  // Without type checks, which take a third of the time and have their own command: npm run types.
  const nest = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--path', build];
  const begin = performance.now();
  const { status } = spawnSync(process.execPath, nest, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  console.error(`Built in ${Math.round((performance.now() - begin) / 1_000)} s`);
  // The build doesn't touch unchanged files, so the mark is renewed.
  utimesSync(program, new Date(), new Date());
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
