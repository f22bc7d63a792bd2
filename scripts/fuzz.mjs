// npm run fuzz: the fuzz tests with more requests, or a repetition of a run (FUZZ_SEED). FUZZ_REQUESTS are valid, or
// invalid in one place; HOSTILE_REQUESTS are meant to do harm.
import { spawnSync } from 'node:child_process';

const env = { FUZZ_REQUESTS: '50000', HOSTILE_REQUESTS: '50000', ...process.env };
const jest = ['node_modules/jest/bin/jest.js', 'test/endurance/fuzz', 'test/endurance/hostile'];
process.exit(spawnSync(process.execPath, jest, { stdio: 'inherit', env }).status ?? 1);
