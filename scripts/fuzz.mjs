// npm run fuzz: the fuzz test of the suite with more requests (FUZZ_REQUESTS), or again as it was (FUZZ_SEED).
import { spawnSync } from 'node:child_process';

const env = { FUZZ_REQUESTS: '50000', ...process.env };
const jest = ['node_modules/jest/bin/jest.js', 'test/conventions/fuzz'];
process.exit(spawnSync(process.execPath, jest, { stdio: 'inherit', env }).status ?? 1);
