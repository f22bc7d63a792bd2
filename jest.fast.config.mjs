// npm test: all tests except test/endurance.
import all from './jest.config.mjs';

export default { ...all, testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/endurance/'] };
