// Loaded into a service by NODE_OPTIONS: writes down for how long its event loop was blocked at most, in milliseconds.
import { readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';

const { LOOP_PROBE: file } = process.env;
const INTERVAL = 5;
const NANOSECONDS = 1e6;

/** Of the main thread alone, where Linux tells it: while others have the core, nobody is blocked by this process. */
function busyTime() {
  try {
    const time = Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / NANOSECONDS;
    if (time > 0) return time;
  } catch {
    // Another system.
  }
  return performance.now();
}

let longest = 0;
let last = busyTime();

setInterval(() => {
  const now = busyTime();
  if (now - last > longest) {
    longest = now - last;
    writeFileSync(file, String(longest));
  }
  last = busyTime();
}, INTERVAL).unref();

process.on('SIGUSR2', () => {
  longest = 0;
  last = busyTime();
  writeFileSync(file, '0');
});
