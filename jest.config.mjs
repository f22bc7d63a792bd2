// Nest 12 and these packages are ES modules, which Jest on Node 20 must transform.
const ES_MODULES = [
  '@nestjs',
  'jose',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  '@tokenizer',
  '@borewit',
  '@faker-js',
  '@tus',
  'srvx',
];

// Drivers of databases that no test has. TypeORM would load them all, a megabyte of code, for each test file.
const OTHER_DRIVERS = [
  'aurora-mysql',
  'aurora-postgres',
  'better-sqlite3',
  'capacitor',
  'cockroachdb',
  'cordova',
  'expo',
  'mongodb',
  'mysql',
  'nativescript',
  'oracle',
  'react-native',
  'sap',
  'spanner',
  'sqljs',
  'sqlserver',
];

export default {
  rootDir: '.',
  roots: ['<rootDir>/test'],
  testEnvironment: 'node',
  testMatch: ['**/*.spec.ts'],
  runtime: '<rootDir>/test/support/shared-scripts.cjs',
  transform: {
    '^.+\\.(ts|js|mjs)$': [
      '@swc/jest',
      {
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES.join('|')})/)`],
  moduleNameMapper: {
    // Jest doesn't understand how its package.json states its module.
    '^file-type$': '<rootDir>/node_modules/file-type/index.js',
    // Jest loads all packages again for each test file, and the number of files decides how long that takes. Here is the
    // same code in fewer files: the bundles that the packages bring, and an index that loads what is used.
    '^rxjs(/operators)?$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
    '^class-validator$': '<rootDir>/node_modules/class-validator/bundles/class-validator.umd.js',
    '^es-toolkit/compat$': '<rootDir>/test/support/packages/es-toolkit-compat.cjs',
    [`^\\./(${OTHER_DRIVERS.join('|')})/\\w+Driver$`]: '<rootDir>/test/support/packages/other-driver.cjs',
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testTimeout: 60_000,
  // By default Jest leaves one core unused, which of two is half.
  maxWorkers: '100%',
};
