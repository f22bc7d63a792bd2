// First: the build and the imports below take seconds each.
import { buildStatus } from './begun-build';
import { makeWholes, PRODUCT } from '../../scripts/openapi/documents';
import { resolve } from 'node:path';
import { declareMigrations } from '../../src/platform/programs';
import { startTestRun, testRun } from '../../src/platform/testing';
import { PgBouncer } from './pg-bouncer';
import { PLACES } from './tested-places';

declare global {
  // Passed from the set-up to the tear-down, which run in the same process.
  var endTestRun: () => Promise<void>;
}

/**
 * Joins the parts of the documents and prepares the databases of the tests, while the service is built.
 * @throws {Error} if the build fails
 */
export default async function globalSetup(): Promise<void> {
  for (const folder of new Set([PRODUCT, PLACES.documents])) makeWholes(folder);
  for (const folder of PLACES.migrations) declareMigrations(resolve(folder));
  const endRun = await startTestRun();
  const pooler = process.env.TEST_POOLER ? await PgBouncer.start(testRun().server) : undefined;
  if (pooler) process.env.TEST_POOLER_ADDRESS = `127.0.0.1:${pooler.port}`;
  globalThis.endTestRun = async () => {
    await pooler?.stop();
    await endRun();
  };
  if ((await buildStatus) === 0) return;
  await globalThis.endTestRun();
  throw new Error('The build failed');
}
