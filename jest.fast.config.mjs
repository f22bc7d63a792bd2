// npm test: all tests except test/extension and test/endurance.
import all from './jest.config.mjs';

export default {
  ...all,
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/extension/', '<rootDir>/test/endurance/'],
};
