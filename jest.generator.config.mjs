// npm run test:generator: only the tests in test/generator, which make resources in copies of the project.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/generator'], globalSetup: undefined, globalTeardown: undefined };
