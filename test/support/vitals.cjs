// Loaded before the service (node --require): tells its parent, when asked, how the process is.
const { readFileSync } = require('node:fs');

/** How often the event loop is looked at, in milliseconds. */
const INTERVAL = 10;
/** Of the main thread: nanoseconds on a processor, and nanoseconds of waiting for one. Linux only. */
const SCHEDULER = `/proc/self/task/${process.pid}/schedstat`;

let longest = 0;
let last = measure();

/** What other processes keep from this one is no fault of it: the time that it waited for a processor doesn't count. */
setInterval(() => {
  const now = measure();
  longest = Math.max(longest, now.wall - last.wall - (now.waited - last.waited) - INTERVAL);
  last = now;
}, INTERVAL).unref();

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

process.on('message', (message) => {
  if (message !== 'vitals') return;
  // Twice: what a finaliser lets go of in the first is collected in the second.
  globalThis.gc();
  globalThis.gc();
  const now = measure();
  process.send({
    blocked: longest,
    cpu: now.ran,
    heap: process.memoryUsage().heapUsed + process.memoryUsage().external,
    sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length,
  });
  longest = 0;
  last = measure();
});
// The channel alone doesn't keep the service running.
process.channel?.unref();
