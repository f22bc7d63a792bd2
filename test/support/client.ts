import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const { TEST_DIRECTORY = '', JEST_WORKER_ID = '' } = process.env;
/** Each process of the tests builds the client once. */
const FOLDER = join(TEST_DIRECTORY, `client-${process.ppid}-${JEST_WORKER_ID}`);

/** The tests of the client call examples, of which it knows nothing where they have left the service. */
const examplesAreThere = existsSync('src/resources/products');
export const describeCalls = examplesAreThere ? describe : describe.skip;
export const itCalls = examplesAreThere ? it : it.skip;

/**
 * The client as `npm run client` builds it. Nothing here has its types: `test/client/types.spec.ts` compiles calls of it.
 */
export function builtClient(): ReturnType<typeof JSON.parse> {
  if (!existsSync(join(FOLDER, 'index.js'))) npmClient('bundle', FOLDER);
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require(join(FOLDER, 'index.js'));
}

/** The bundles as files. */
export function builtFile(name: string): string {
  builtClient();
  return join(FOLDER, name);
}

/** `npm run client`, or one of its parts. */
export function npmClient(...words: string[]): string {
  const program = ['-r', '@swc-node/register', 'scripts/client/main.ts', ...words];
  return execFileSync(process.execPath, program, { encoding: 'utf8' });
}
