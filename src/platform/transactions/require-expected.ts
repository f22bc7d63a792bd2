import type { ObjectLiteral } from 'typeorm';
import type { Precondition } from './precondition';
import { UnitOfWork } from './unit-of-work';

type Versioned = ObjectLiteral & { version: number };

/**
 * The precondition for a row: the one passed to its writer, otherwise the request's own, unless it was compared with
 * another row.
 */
export function preconditionFor(passed: Precondition | undefined): Precondition | undefined {
  return passed ?? UnitOfWork.current()?.pendingPrecondition;
}

/**
 * Compares the version of a locked row, or of a row that won't be written. updateRow() and deleteRow() compare in their
 * statement.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {StaleVersionError}
 */
export function requireExpected({ version }: Versioned, expected?: Precondition): void {
  preconditionFor(expected)?.take().require(version);
}

/**
 * Compares the version before costly work. The row must be locked and compared again afterwards.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {StaleVersionError}
 */
export function requireExpectedSoFar({ version }: Versioned, expected?: Precondition): void {
  preconditionFor(expected)?.require(version);
}
