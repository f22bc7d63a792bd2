// npm test: all tests except test/extension, test/endurance and test/generator.
import all from './jest.config.mjs';

export default {
  ...all,
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/extension/',
    '<rootDir>/test/endurance/',
    '<rootDir>/test/generator/',
  ],
};
