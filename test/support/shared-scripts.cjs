// Jest's runtime, but a worker finds, reads and compiles each module once. Jest itself does all three again for each test
// file. It compiles all modules of the application again because compileFunction() of node:vm binds its result to the
// context of one file. A Script is bound to none: it runs in the context of each file anew, with the code that V8 has
// compiled. No state is shared, except that of OUTSIDE, and that of all packages in shared-environment.cjs.
const { AsyncLocalStorage } = require('node:async_hooks');
const { statSync } = require('node:fs');
const { sep } = require('node:path');
const { compileFunction, constants, Script } = require('node:vm');
const { setFlagsFromString } = require('node:v8');
const { default: Runtime } = require('jest-runtime');

// Node 20 tells each AsyncLocalStorage that was ever used of each new promise. At the end of a file those of its own are let go.
const used = new Set();
const { prototype: storage } = AsyncLocalStorage;
const { _enable: enable } = storage;
if (enable) {
  storage._enable = function () {
    used.add(this);
    return enable.call(this);
  };
}

// By default V8 drops the code of functions that haven't run for a while: those of the files before.
setFlagsFromString('--no-flush-bytecode');

/** Modules that run once for all files, outside of their contexts. */
const OUTSIDE = new Set([require.resolve('./validators.cjs')]);
const PACKAGES = `${sep}node_modules${sep}`;

/** By file name: the source and its script, or undefined if only Jest can compile the source. */
const compiled = new Map();
/** By file name: the transformed source, and when the file was changed. */
const transformed = new Map();
/** By Jest's resolver: where modules are. */
const places = new WeakMap();

/** Jest clears its places for each file. */
class Places extends Map {
  clear() {}
}

module.exports = class SharedScriptsRuntime extends Runtime {
  constructor(...parameters) {
    super(...parameters);
    const { executor, transformCache, _resolution: resolution } = this;
    if (
      !executor?.compile ||
      !executor.injectedModuleParameters ||
      !transformCache?.transforms ||
      !resolution?.cjsCache
    ) {
      throw new Error(
        'This Jest compiles modules elsewhere: mend test/support/shared-scripts.cjs, or take it out of jest.config.mjs.',
      );
    }
    const compile = executor.compile.bind(executor);
    const head = `(function (${executor.injectedModuleParameters.join(', ')}) {`;
    executor.compile = (source, filename) => {
      const { isShared } = this._environment;
      const context = this._environment.getVmContext();
      const script = (isShared || context) && scriptOf(head, source, filename);
      if (!isShared) return script ? script.runInContext(context) : compile(source, filename);
      return script?.runInThisContext() ?? compileHere(source, filename, executor.injectedModuleParameters);
    };
    const execute = executor.exec.bind(executor);
    executor.exec = (module, ...others) => {
      if (!isOutside(module.filename, this._environment, others[0])) return execute(module, ...others);
      module.exports = require(module.filename);
      return undefined;
    };
    if (!this._coverageOptions?.collectCoverage) shareTransformed(transformCache);
    resolution.cjsCache = placesOf(resolution.resolver, 'modules');
    const mocks = placesOf(resolution.resolver, 'mocks');
    const findMock = resolution.getCjsMockModule.bind(resolution);
    resolution.getCjsMockModule = (from, name) => {
      const key = `${from}\0${name}`;
      if (!mocks.has(key)) mocks.set(key, findMock(from, name));
      return mocks.get(key);
    };
  }

  teardown() {
    super.teardown();
    for (const one of used) one.disable();
    used.clear();
  }
};

/** Whether a module runs once for all files. Jest loads its own packages for each file. */
function isOutside(filename, { isShared }, options) {
  return OUTSIDE.has(filename) || (isShared && !options?.isInternalModule && filename.includes(PACKAGES));
}

/** For a source that imports modules later. */
function compileHere(source, filename, parameters) {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return compileFunction(source, parameters, { filename, importModuleDynamically });
}

function placesOf(resolver, kind) {
  if (!places.has(resolver)) places.set(resolver, { modules: new Places(), mocks: new Places() });
  return places.get(resolver)[kind];
}

function shareTransformed(transformCache) {
  const transform = transformCache.transform.bind(transformCache);
  transformCache.transform = (filename, options) => {
    // Jest doesn't transform modules of its own.
    const key = options?.isInternalModule ? `internal ${filename}` : filename;
    const changed = filename.includes(PACKAGES) ? 0 : statSync(filename).mtimeMs;
    const known = transformed.get(key);
    if (known?.changed !== changed) {
      const code = transform(filename, options);
      transformed.set(key, { changed, code, entry: transformCache.transforms.get(filename) });
      return code;
    }
    if (known.entry) {
      transformCache.transforms.set(filename, known.entry);
      if (known.entry.sourceMapPath) transformCache.sourceMaps.set(filename, known.entry.sourceMapPath);
    }
    return known.code;
  };
}

function scriptOf(head, source, filename) {
  const known = compiled.get(filename);
  if (known?.source === source) return known.script;
  const script = compileScript(head, source, filename);
  compiled.set(filename, { source, script });
  return script;
}

function compileScript(head, source, filename) {
  // A script without a context can't import modules later.
  if (/\bimport\s*\(/.test(source)) return undefined;
  try {
    return new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length });
  } catch {
    // Jest tells what is wrong with the source.
    return undefined;
  }
}
