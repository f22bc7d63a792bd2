// Builds unless dist/ is newer than all its sources, so that a later start takes a second.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = readdirSync('src', { recursive: true }).map((name) => join('src', name));
const inputs = ['src', ...sources, 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.start.json'];
const built = modified('dist/main.js');

if (built < Math.max(...inputs.map(modified))) {
  // Without type checks, which take a third of the time and have their own command: npm run types.
  const build = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--path', 'tsconfig.start.json'];
  const { status } = spawnSync(process.execPath, build, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  // The build doesn't touch unchanged files, so the mark is renewed.
  utimesSync('dist/main.js', new Date(), new Date());
}
