import { spawnSync } from 'node:child_process';
import { makeWholes, PRODUCT } from '../../scripts/openapi/documents';
import { resolve } from 'node:path';
import { declareMigrations } from '../../src/platform/programs';
import { startTestRun } from '../../src/platform/testing';
import { PLACES } from './tested-places';

declare global {
  // Passed from the set-up to the tear-down, which run in the same process.
  var endTestRun: () => Promise<void>;
}

/** Builds the service, joins the parts of its documents, and prepares the databases of the tests. */
export default async function globalSetup(): Promise<void> {
  build();
  for (const folder of new Set([PRODUCT, PLACES.documents])) makeWholes(folder);
  for (const folder of PLACES.migrations) declareMigrations(resolve(folder));
  globalThis.endTestRun = await startTestRun();
}

/** Some tests start processes of the built service. */
function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build-if-changed.mjs', '--tests'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed');
}
