// Builds unless dist/ is newer than everything it is made of, so that a later start takes a second.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = readdirSync('src', { recursive: true }).map((name) => join('src', name));
const inputs = ['src', ...sources, 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.start.json'];
const built = modified('dist/main.js');

if (built < Math.max(...inputs.map(modified))) {
  // Without the type check, which takes a third of the time and has a command of its own: npm run types.
  const build = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--path', 'tsconfig.start.json'];
  const { status } = spawnSync(process.execPath, build, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  // A build leaves what didn't change alone: the mark is set afresh.
  utimesSync('dist/main.js', new Date(), new Date());
}
