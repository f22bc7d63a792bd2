import { rmSync } from 'node:fs';
import { dropDatabases } from './databases';

export default async function globalTeardown(): Promise<void> {
  const { embedded, directory, prefix, url } = globalThis.testDatabases;
  if (embedded) await embedded.stop();
  else await dropDatabases(url, prefix);
  rmSync(directory, { recursive: true, force: true });
}
