// Begins when it is loaded: some tests start processes of the built service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The status of the process that builds the service, or null if a signal has ended it. */
export const buildStatus: Promise<number | null> = build();

async function build(): Promise<number | null> {
  const building = spawn(process.execPath, ['scripts/build-if-changed.mjs', '--tests'], { stdio: 'inherit' });
  const [status] = (await once(building, 'exit')) as [number | null];
  return status;
}
