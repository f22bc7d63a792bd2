/**
 * @jest-environment ./test/support/zoned-environment.ts
 * @jest-environment-options {"timeZone": "Europe/Berlin"}
 */
import { itReadsAndWritesEveryColumn } from './every-column';

itReadsAndWritesEveryColumn('Europe/Berlin', 1);
