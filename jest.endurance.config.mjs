// npm run test:endurance: only the tests in test/endurance.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/endurance'] };
