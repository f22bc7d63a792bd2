/**
 * @jest-environment ./test/support/zoned-environment.ts
 * @jest-environment-options {"timeZone": "Pacific/Auckland"}
 */
import { itReadsAndWritesEveryColumn } from './every-column';

itReadsAndWritesEveryColumn('Pacific/Auckland', 13);
