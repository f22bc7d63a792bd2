/**
 * @jest-environment ./test/support/zoned-environment.ts
 * @jest-environment-options {"timeZone": "America/New_York"}
 */
import { itMovesNoDay } from '../support/days';

itMovesNoDay('America/New_York', -300);
