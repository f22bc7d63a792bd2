// Jest's runtime, but a worker compiles each module once. Jest itself compiles all modules of the application again for
// each test file, because compileFunction() of node:vm binds its result to the context of one file. A Script is bound
// to none: it runs in the context of each file anew, with the code that V8 has compiled. No state is shared.
const { Script } = require('node:vm');
const { setFlagsFromString } = require('node:v8');
const { default: Runtime } = require('jest-runtime');

// By default V8 drops the code of functions that haven't run for a while: those of the files before.
setFlagsFromString('--no-flush-bytecode');

/** By file name: the source and its script, or undefined if only Jest can compile the source. */
const compiled = new Map();

module.exports = class SharedScriptsRuntime extends Runtime {
  constructor(...parameters) {
    super(...parameters);
    const { executor } = this;
    if (!executor?.compile || !executor.injectedModuleParameters) {
      throw new Error(
        'This Jest compiles modules elsewhere: mend test/support/shared-scripts.cjs, or take it out of jest.config.mjs.',
      );
    }
    const compile = executor.compile.bind(executor);
    const head = `(function (${executor.injectedModuleParameters.join(', ')}) {`;
    executor.compile = (source, filename) => {
      const context = this._environment.getVmContext();
      const script = context && scriptOf(head, source, filename);
      return script ? script.runInContext(context) : compile(source, filename);
    };
  }
};

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
