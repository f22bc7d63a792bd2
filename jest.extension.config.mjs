// npm run test:extension: only the tests in test/extension.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/extension'] };
