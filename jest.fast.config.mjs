// npm test: all tests except those of the folders that have a suite of their own.
import all from './jest.config.mjs';

export default {
  ...all,
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/client/',
    '<rootDir>/test/extension/',
    '<rootDir>/test/endurance/',
    '<rootDir>/test/generator/',
    '<rootDir>/test/repository/',
  ],
};
