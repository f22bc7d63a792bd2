import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { declareMigrations } from '../../src/platform/programs';
import { startTestRun } from '../../src/platform/testing';
import { PLACES } from './places';

declare global {
  // Passed from the set-up to the tear-down, which run in the same process.
  var endTestRun: () => Promise<void>;
}

/** Builds the service, and prepares the databases of the tests. */
export default async function globalSetup(): Promise<void> {
  build();
  for (const folder of PLACES.migrations) declareMigrations(resolve(folder));
  globalThis.endTestRun = await startTestRun();
}

/** Some tests start processes of the built service. */
function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build-if-changed.mjs', '--tests'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed');
}
