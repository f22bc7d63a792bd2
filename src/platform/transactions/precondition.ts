import type { EntityMetadata } from 'typeorm';

/** Thrown when a row isn't in a version that its writer expects. */
export class StaleVersionError extends Error {
  /** @param version the one that the row has */
  constructor(readonly version: number) {
    super('The row is in another version than expected');
  }
}

/** In which versions a row must be, or must not be, to be written (RFC 9110, 13.1). */
export class Precondition {
  private taken = false;

  constructor(
    private readonly only?: number[],
    private readonly not?: number[],
  ) {}

  /** Whether a row was compared with it already: the one that the request is about. */
  get isTaken(): boolean {
    return this.taken;
  }

  /** For who compares a row with it: no other row is compared with it unasked. */
  take(): this {
    this.taken = true;
    return this;
  }

  /**
   * As conditions of the very statement that writes.
   * @param values of the statement; gets those of the conditions
   * @param column of the version, as SQL has it
   * @param place of the value with a number, counted from 1
   */
  conditions(values: unknown[], column = 'version', place = (number: number) => `$${number}`): string[] {
    return [
      ...(this.only ? [`${column} = ANY(${place(values.push(this.only))}::integer[])`] : []),
      ...(this.not ? [`${column} <> ALL(${place(values.push(this.not))}::integer[])`] : []),
    ];
  }

  /** @throws {StaleVersionError} */
  require(version: number): void {
    if (this.only?.includes(version) === false || this.not?.includes(version)) throw new StaleVersionError(version);
  }
}

/** A precondition that nothing can be compared with is refused: to leave it out would lose what somebody else wrote. */
export function requireVersionOf(metadata: EntityMetadata): void {
  if (hasVersion(metadata)) return;
  throw new Error(
    `If-Match and If-None-Match can't be honoured for ${metadata.name}: it has no column "version". ` +
      'Have it extend ResourceEntity, and give its table the trigger touch_row.',
  );
}

export function hasVersion(metadata: EntityMetadata): boolean {
  return metadata.findColumnWithPropertyName('version') !== undefined;
}
