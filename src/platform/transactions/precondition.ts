import type { EntityMetadata } from 'typeorm';

/** Thrown when a row doesn't have the version that its writer expects. */
export class StaleVersionError extends Error {
  /** @param version the current version of the row */
  constructor(readonly version: number) {
    super('The row is in another version than expected');
  }
}

/** The versions that a row must have, or must not have, to be written (RFC 9110, 13.1). */
export class Precondition {
  private taken = false;

  constructor(
    private readonly only?: number[],
    private readonly not?: number[],
  ) {}

  /** True if it was compared with a row, which is then the subject of the request. */
  get isTaken(): boolean {
    return this.taken;
  }

  /** Marks the precondition as compared, so that it doesn't apply to other rows. */
  take(): this {
    this.taken = true;
    return this;
  }

  /** The version, if a row must have this one. */
  get onlyVersion(): number | undefined {
    return !this.not && this.only?.length === 1 ? this.only[0] : undefined;
  }

  /**
   * The precondition as conditions of the statement that writes.
   * @param values the values of the statement; those of the conditions are added
   * @param column the quoted column of the version
   * @param place the placeholder of a value, by its number from 1
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

/** Refuses a precondition on an entity without a version: ignoring it would overwrite the changes of others. */
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
