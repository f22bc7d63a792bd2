import type { ObjectLiteral } from 'typeorm';
import type { Precondition } from './precondition';
import { UnitOfWork } from './unit-of-work';

type Versioned = ObjectLiteral & { version: number };

/**
 * What a row is to be compared with: what its writer was passed; else what the request demands, unless a row was compared
 * with that already.
 */
export function preconditionFor(passed: Precondition | undefined): Precondition | undefined {
  return passed ?? UnitOfWork.current()?.pendingPrecondition;
}

/**
 * For a row that is locked, or isn't going to be written at all: what updateRow() and deleteRow() do in their statement.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {StaleVersionError}
 */
export function requireExpected({ version }: Versioned, expected?: Precondition): void {
  preconditionFor(expected)?.take().require(version);
}

/**
 * For a row that is going to be locked and compared after costly work, which a stale version makes needless.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {StaleVersionError}
 */
export function requireExpectedSoFar({ version }: Versioned, expected?: Precondition): void {
  preconditionFor(expected)?.require(version);
}
