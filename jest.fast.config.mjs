// npm test: all tests except those of the folders that have a suite of their own.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import all from './jest.config.mjs';

const inSupport = (path) => fileURLToPath(new URL(`test/support/${path}`, import.meta.url));

export default {
  ...all,
  // A worker waits for PostgreSQL, for processes and for times in between.
  maxWorkers: availableParallelism() + 1,
  testEnvironment: inSupport('shared-environment.cjs'),
  moduleNameMapper: {
    '^file-type$': all.moduleNameMapper['^file-type$'],
    '^@node-rs/argon2$': inSupport('packages/cheap-argon2.cjs'),
  },
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/client/',
    '<rootDir>/test/extension/',
    '<rootDir>/test/endurance/',
    '<rootDir>/test/generator/',
    '<rootDir>/test/repository/',
  ],
};
