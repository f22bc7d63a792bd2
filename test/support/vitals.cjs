// Loaded before the service (node --require): tells its parent, when asked, how the process is.
const { readFileSync } = require('node:fs');

/** How often the event loop is looked at, in milliseconds. */
const INTERVAL = 10;
/** Of the main thread: nanoseconds on a processor, and nanoseconds of waiting for one. Linux only. */
const SCHEDULER = `/proc/self/task/${process.pid}/schedstat`;

let longest = 0;
let last = measure();

/** What other processes keep from this one is no fault of it: the time that it waited for a processor doesn't count. */
setInterval(look, INTERVAL).unref();

function look() {
  const now = measure();
  longest = Math.max(longest, now.wall - last.wall - (now.waited - last.waited) - INTERVAL);
  last = now;
}

function measure() {
  const [ran, waited] = schedulerTimes();
  return { wall: performance.now(), ran, waited };
}

function schedulerTimes() {
  try {
    return readFileSync(SCHEDULER, 'utf8')
      .split(' ', 2)
      .map((nanoseconds) => Number(nanoseconds) / 1e6);
  } catch {
    return [process.cpuUsage().user / 1e3, 0];
  }
}

process.on('message', (question) => {
  look();
  process.send(question === 'vitals' ? { blocked: longest, ...vitals() } : { blocked: longest });
  longest = 0;
  last = measure();
});

function vitals() {
  // Twice: what a finaliser lets go of in the first is collected in the second.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap');
  return { cpu: measure().ran, heap: heapUsed + external, sockets: sockets.length };
}

// The channel alone doesn't keep the service running.
process.channel?.unref();
