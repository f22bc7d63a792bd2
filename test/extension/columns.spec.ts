/**
 * @jest-environment ./test/support/zoned-environment.ts
 * @jest-environment-options {"timeZone": "UTC"}
 */
import { itReadsAndWritesEveryColumn } from './every-column';

itReadsAndWritesEveryColumn('UTC', 0);
