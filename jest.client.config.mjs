// npm run test:client: only the tests in test/client.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/client'] };
