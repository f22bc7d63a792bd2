// Loaded into a service by NODE_OPTIONS: writes the longest time that its event loop was blocked, in milliseconds.
import { readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';

const { LOOP_PROBE: file } = process.env;
const INTERVAL = 5;
const NANOSECONDS = 1e6;

/**
 * The time of the main thread alone, if the system reports it: while other processes use the core, this one isn't
 * blocking.
 */
function busyTime() {
  try {
    const time = Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / NANOSECONDS;
    if (time > 0) return time;
  } catch {
    // Not Linux.
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
