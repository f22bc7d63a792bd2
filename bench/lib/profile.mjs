// Sums a CPU profile (of --cpu-prof) up: where the time of a request goes, by package and by function.

/** V8's names for samples outside of functions. */
const OUTSIDE = new Map([
  ['(idle)', 'idle'],
  ['(program)', 'native code and the kernel'],
  ['(root)', 'native code and the kernel'],
  ['(garbage collector)', 'garbage collector'],
]);
export const IDLE = OUTSIDE.get('(idle)');

/**
 * @param profile a profile of V8
 * @param window `{ from, to }` in microseconds of the monotonic clock; other samples are ignored
 * @returns `{ packages, functions }`: lists of `{ name, time }` in microseconds without callees, the largest first
 */
export function sumUp(profile, window) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const packages = new Map();
  const functions = new Map();
  let time = profile.startTime;
  profile.samples.forEach((id, place) => {
    time += profile.timeDeltas[place];
    if (time < window.from || time > window.to) return;
    // A sample stands for the time until the next one.
    const duration = Math.max(0, profile.timeDeltas[place + 1] ?? 0);
    const frame = nodes.get(id);
    add(packages, packageOf(frame), duration);
    add(functions, `${frame.functionName || '(anonymous)'} in ${packageOf(frame)}`, duration);
  });
  return { packages: sorted(packages), functions: sorted(functions) };
}

/** `express`, `@nestjs/core`, `src/auth`, `node http` ... */
function packageOf({ functionName, url }) {
  if (OUTSIDE.has(functionName)) return OUTSIDE.get(functionName);
  if (url === '') return 'native functions';
  if (url.startsWith('node:')) return `node ${nodeModuleOf(url)}`;
  const path = url.split('/node_modules/');
  if (path.length > 1) return path.at(-1).match(/^(@[^/]+\/)?[^/]+/)[0];
  return `src/${url.split('/dist/').at(-1)}`.replace(/\/[^/]+$/, '');
}

/** `node:internal/streams/writable` is `streams`, `node:_http_outgoing` is `http`. */
function nodeModuleOf(url) {
  return url
    .replace(/^node:(internal\/)?_?/, '')
    .split(/[/_]/)[0]
    .replace(/^stream$/, 'streams');
}

function add(sums, name, duration) {
  sums.set(name, (sums.get(name) ?? 0) + duration);
}

function sorted(sums) {
  return [...sums].map(([name, time]) => ({ name, time })).sort((a, b) => b.time - a.time);
}
