import { spawnSync } from 'node:child_process';
import { makeWholes } from '../../scripts/openapi/documents';
import { startTestRun } from '../../src/platform/testing';

declare global {
  // Passed from the set-up to the tear-down, which run in the same process.
  var endTestRun: () => Promise<void>;
}

/** Builds the service, joins the parts of its documents, and prepares the databases of the tests. */
export default async function globalSetup(): Promise<void> {
  build();
  makeWholes();
  globalThis.endTestRun = await startTestRun();
}

/** Some tests start processes of the built service. */
function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build-if-changed.mjs'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed');
}
