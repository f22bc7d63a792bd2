import type { ObjectLiteral } from 'typeorm';
import { UnitOfWork } from './unit-of-work';

/** Thrown when a row isn't in a version that its writer expects. */
export class StaleVersionError extends Error {
  /** @param version the one that the row has */
  constructor(readonly version: number) {
    super('The row is in another version than expected');
  }
}

/** In which versions a row must be, or must not be, to be written. */
export class Expectation {
  constructor(
    private readonly only?: number[],
    private readonly not?: number[],
  ) {}

  /** As conditions of the very statement that writes. @param values of the statement; gets those of the conditions */
  conditions(values: unknown[]): string[] {
    return [
      ...(this.only ? [`version = ANY($${values.push(this.only)}::integer[])`] : []),
      ...(this.not ? [`version <> ALL($${values.push(this.not)}::integer[])`] : []),
    ];
  }

  isMetBy(version: number): boolean {
    return (this.only?.includes(version) ?? true) && !this.not?.includes(version);
  }
}

/**
 * For a row that is locked, or isn't going to be written at all: what updateRow() and deleteRow() do in their statement.
 * @throws {StaleVersionError}
 */
export function requireExpected({ version }: ObjectLiteral & { version: number }): void {
  const expectation = UnitOfWork.current()?.takeExpectation();
  if (expectation && !expectation.isMetBy(version)) throw new StaleVersionError(version);
}
