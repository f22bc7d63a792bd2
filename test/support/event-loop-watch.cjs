// Loaded into a service before itself: says, when asked, for how long at most its event loop has stood still since it was
// asked last. A gap between two ticks counts as far as the process has used the processor in it, so that a busy machine,
// which lets it wait, doesn't count.
const { performance } = require('node:perf_hooks');

const INTERVAL = 10;
let tickedAt = performance.now();
let used = process.cpuUsage();
let longest = 0;

function tick() {
  const now = performance.now();
  const { user, system } = process.cpuUsage(used);
  longest = Math.max(longest, Math.min(now - tickedAt - INTERVAL, (user + system) / 1_000));
  tickedAt = now;
  used = process.cpuUsage();
}

setInterval(tick, INTERVAL).unref();
process.on('message', () => {
  tick();
  process.send({ longest });
  longest = 0;
});
process.channel.unref();
