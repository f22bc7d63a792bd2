// npm run migration:generate -- name
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import prettier from 'prettier';

const MIGRATIONS = 'src/migrations';

const [name] = process.argv.slice(2);
if (!/^[a-z][a-z0-9-]*$/i.test(name ?? '')) {
  console.error('Say what the migration does: npm run migration:generate -- add-invoices');
  process.exit(1);
}
// Runs all migrations first: the difference to an older schema would repeat them.
runTypeorm(['migration:run'], 'pipe');
const before = readdirSync(MIGRATIONS);
runTypeorm(['migration:generate', `${MIGRATIONS}/${name}`], 'inherit');
for (const file of readdirSync(MIGRATIONS).filter((one) => !before.includes(one))) await format(join(MIGRATIONS, file));
runNpm(['migration:check'], 'inherit');

function runTypeorm(command, stdout) {
  runNpm(['typeorm', '--', ...command], stdout);
}

/** With `pipe`, output is only shown after a failure. */
function runNpm(command, stdout) {
  const options = { stdio: ['inherit', stdout, 'inherit'], shell: process.platform === 'win32' };
  const { status, output } = spawnSync('npm', ['run', '--silent', ...command], options);
  if (status === 0) return;
  process.stdout.write(output?.[1] ?? '');
  process.exit(status ?? 1);
}

async function format(file) {
  const options = await prettier.resolveConfig(file);
  writeFileSync(file, await prettier.format(readFileSync(file, 'utf8'), { ...options, filepath: file }));
}
