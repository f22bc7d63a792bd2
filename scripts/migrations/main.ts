// npm run migration:check: refuses what a new migration may not do while instances of the last release run.
// npm run migration:check -- --release: takes all migrations into the list of the released ones.
import 'reflect-metadata';
import { checkMigrations } from './check';
import { inScratchDatabase } from './scratch-database';
import { migrationSources, release, releasedMigrations } from './sources';

async function main(): Promise<number> {
  if (process.argv.includes('--release')) {
    console.log(`Released: ${release().join(', ') || 'nothing new'}`);
    return 0;
  }
  const [sources, released] = [migrationSources(), releasedMigrations()];
  const names = [...sources.keys()].filter((name) => !released.has(name));
  const problems = await inScratchDatabase((url) => checkMigrations(url, sources, released));
  if (problems.length > 0)
    console.error(`${problems.join('\n\n')}\n\ndocs/migrations.md says how two releases share a schema.`);
  else console.log(`Two releases can share the schema: ${names.join(', ') || 'there is no new migration'}.`);
  return problems.length > 0 ? 1 : 0;
}

main().then(
  (code) => (process.exitCode = code),
  (error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
