// The environment of the fast tests: all files of a worker run in the worker's own context, and share its packages, see
// shared-scripts.cjs. What one file leaves behind is taken away at its end (D-297).
// Migrations are TypeScript, and TypeORM loads them by their paths.
require('@swc-node/register');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Where packages keep what files declare. Each file declares everything again. */
const GLOBAL_STORES = ['typeormMetadataArgsStorage', 'classValidatorMetadataStorage'];
/** Methods of packages that the service replaces. Later files would replace them once more, and keep the first file in memory. */
const REPLACED = [
  ['@nestjs/common', 'ClassSerializerInterceptor', 'serialize'],
  ['@nestjs/cache-manager', 'CacheInterceptor', 'intercept'],
];

module.exports = class SharedEnvironment {
  global = globalThis;
  isShared = true;

  constructor({ projectConfig: config }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    this.fakeTimers = null;
    this.names = new Set(Reflect.ownKeys(globalThis));
    this.variables = process.env;
    this.values = { ...process.env };
    this.methods = REPLACED.map(([name, type, method]) => {
      const { prototype } = require(name)[type];
      return { prototype, method, value: prototype[method] };
    });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    const added = Reflect.ownKeys(globalThis).filter((name) => !this.names.has(name) && !isOfNode(name));
    for (const name of [...added, ...GLOBAL_STORES]) Reflect.deleteProperty(globalThis, name);
    clear(require('class-transformer/cjs/storage').defaultMetadataStorage);
    for (const { prototype, method, value } of this.methods) prototype[method] = value;
    process.env = this.variables;
    for (const name of Object.keys(process.env)) if (!(name in this.values)) delete process.env[name];
    Object.assign(process.env, this.values);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** None: see shared-scripts.cjs. */
  getVmContext() {
    return null;
  }
};

/** Node keeps the dispatcher of fetch() there. */
const isOfNode = (name) => typeof name === 'symbol' && name.description?.startsWith('undici.');

/** Empties all maps of an object. */
function clear(storage) {
  for (const map of Object.values(storage)) if (map instanceof Map) map.clear();
}
