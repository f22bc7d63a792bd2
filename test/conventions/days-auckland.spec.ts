/**
 * @jest-environment ./test/support/zoned-environment.ts
 * @jest-environment-options {"timeZone": "Pacific/Auckland"}
 */
import { itMovesNoDay } from '../support/days';

itMovesNoDay('Pacific/Auckland', 780);
