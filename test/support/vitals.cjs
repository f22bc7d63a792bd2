// Preloaded into the service (node --require): reports the state of the process to its parent on request.
const { readFileSync } = require('node:fs');

/** The interval between checks of the event loop, in milliseconds. */
const INTERVAL = 10;
/** The main thread's time on a processor, and waiting for one, in nanoseconds. Linux only. */
const SCHEDULER = `/proc/self/task/${process.pid}/schedstat`;

let longest = 0;
let last = measure();

/** Time that the process has waited for a processor doesn't count, because other processes have caused it. */
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
  // Twice: what finalisers release in the first run is collected in the second.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap');
  return { cpu: measure().ran, heap: heapUsed + external, sockets: sockets.length };
}

// The channel alone mustn't keep the service running.
process.channel?.unref();
