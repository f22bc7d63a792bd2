// Loaded into a service by NODE_OPTIONS: writes how often it was told to begin anew, and the longest time that its event
// loop was blocked since then, in milliseconds.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
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

let beginnings = 0;
let longest = 0;
let last = busyTime();

function write() {
  writeFileSync(`${file}.new`, `${beginnings} ${longest}`);
  // So that nobody reads half of it.
  renameSync(`${file}.new`, file);
}

setInterval(() => {
  const now = busyTime();
  if (now - last > longest) {
    longest = now - last;
    write();
  }
  last = busyTime();
}, INTERVAL).unref();

process.on('SIGUSR2', () => {
  beginnings++;
  longest = 0;
  last = busyTime();
  write();
});
