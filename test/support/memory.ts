import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Takes away what nothing refers to any more. */
export const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use. */
export function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
