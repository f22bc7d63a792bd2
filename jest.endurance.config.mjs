// npm run test:endurance: test/endurance and nothing else.
import all from './jest.config.mjs';

export default { ...all, roots: ['<rootDir>/test/endurance'] };
