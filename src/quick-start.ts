import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/** Missing in Node 20. */
type CompileCache = { enableCompileCache?: (directory: string) => unknown };

/**
 * How much bytecode a function runs before V8 considers optimizing it, in bytes: six times as much as usual while
 * files are loaded. Optimizing functions that are hot only then took a sixth of the start.
 */
enum InterruptBudget {
  LOADING = 400_000,
  /** V8's own default in Node 20. */
  USUAL = 67_584,
}

const allow = (budget: InterruptBudget) => setFlagsFromString(`--interrupt-budget=${budget}`);

// The compile cache belongs to the build: any user of the machine could fill a directory in /tmp. If the directory can't
// be written, the start is as slow as without it.
const { enableCompileCache } = nodeModule as CompileCache;
if (enableCompileCache) enableCompileCache(join(__dirname, '.compile-cache'));
else {
  allow(InterruptBudget.LOADING);
  // All files are loaded in one turn of the event loop.
  setImmediate(allow, InterruptBudget.USUAL);
}
