// npm run migration:generate -- name
import { spawnSync } from 'node:child_process';

const [name] = process.argv.slice(2);
if (!/^[a-z][a-z0-9-]*$/i.test(name ?? '')) {
  console.error('Say what the migration does: npm run migration:generate -- add-invoices');
  process.exit(1);
}
const command = ['run', '--silent', 'typeorm', '--', 'migration:generate', `src/database/migrations/${name}`];
process.exit(spawnSync('npm', command, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1);
