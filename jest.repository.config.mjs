// npm run test:repository: only the tests in test/repository.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/repository'] };
