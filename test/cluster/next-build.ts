import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Below node_modules, so that the build finds its packages. */
const FOLDER = resolve('node_modules/.cache/cluster-test');

/** A migration as docs/operations.md wants it: the build before knows nothing of the column, and isn't disturbed by it. */
const MIGRATION = `
class OneMore9000000000000 {
  async up(database) {
    await database.query("SET LOCAL lock_timeout = '2s'");
    await database.query('ALTER TABLE posts ADD COLUMN next_build text');
  }
  async down(database) {
    await database.query('ALTER TABLE posts DROP COLUMN next_build');
  }
}
exports.OneMore9000000000000 = OneMore9000000000000;
`;

/** A build of the service with one more migration. Returns its folder. */
export function nextBuild(): string {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const build = resolve(FOLDER, 'dist');
  cpSync('dist', build, { recursive: true });
  cpSync('package.json', resolve(FOLDER, 'package.json'));
  writeFileSync(resolve(build, 'migrations/9000000000000-one-more.js'), MIGRATION);
  return build;
}
