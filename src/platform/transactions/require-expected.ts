import type { ObjectLiteral } from 'typeorm';
import { StaleVersionError } from './expectation';
import { UnitOfWork } from './unit-of-work';

/**
 * For a row that is locked, or isn't going to be written at all: what updateRow() and deleteRow() do in their statement.
 * @throws {StaleVersionError}
 */
export function requireExpected({ version }: ObjectLiteral & { version: number }): void {
  const expectation = UnitOfWork.current()?.takeExpectation();
  if (expectation && !expectation.isMetBy(version)) throw new StaleVersionError(version);
}

/**
 * For a row that is going to be locked and compared after costly work, which a stale version makes needless.
 * @throws {StaleVersionError}
 */
export function requireExpectedSoFar({ version }: ObjectLiteral & { version: number }): void {
  const expectation = UnitOfWork.current()?.peekExpectation();
  if (expectation && !expectation.isMetBy(version)) throw new StaleVersionError(version);
}
