// npm run fuzz: the fuzz tests of the suite with more requests, or again as they were (FUZZ_SEED).
// FUZZ_REQUESTS keep to the documents or break them in one place; HOSTILE_REQUESTS are meant to do harm.
import { spawnSync } from 'node:child_process';

const env = { FUZZ_REQUESTS: '50000', HOSTILE_REQUESTS: '50000', ...process.env };
const jest = ['node_modules/jest/bin/jest.js', 'test/endurance/fuzz', 'test/endurance/hostile'];
process.exit(spawnSync(process.execPath, jest, { stdio: 'inherit', env }).status ?? 1);
