import {
  type EntityManager,
  type EntityMetadata,
  EntityNotFoundError,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';
import { type Precondition, requireVersionOf, StaleVersionError } from '../transactions/precondition';
import { preconditionFor } from '../transactions/require-expected';
import { quoted } from './plain-entity';

/** A row with an id and a version, which is a resource. */
export interface VersionedRow extends ObjectLiteral {
  id: number;
  version: number;
}

/** The row that a statement writes, if its version is the expected one. */
export class ExpectedRow<E extends VersionedRow> {
  private readonly metadata: EntityMetadata;
  private readonly precondition?: Precondition;

  /**
   * @param expected the precondition that was passed to the writer. Default: the request's own, for the first row that
   *   it writes
   */
  constructor(
    private readonly manager: EntityManager,
    private readonly entity: EntityTarget<E>,
    private readonly id: number,
    expected?: Precondition,
  ) {
    this.metadata = manager.dataSource.getMetadata(entity);
    this.precondition = preconditionFor(expected)?.take();
    if (this.precondition) requireVersionOf(this.metadata);
  }

  /**
   * The condition of the statement. It excludes hidden rows.
   * @param values the values of the statement; those of the condition are added
   */
  condition(values: unknown[]): string {
    const { deleteDateColumn } = this.metadata;
    return [
      `${this.column('id')} = $${values.push(this.id)}`,
      ...(deleteDateColumn ? [`${quoted(deleteDateColumn.databaseName)} IS NULL`] : []),
      ...(this.precondition?.conditions(values, this.column('version')) ?? []),
    ].join(' AND ');
  }

  /** The version that the row must have; null for any version. Undefined if several versions will do. */
  get version(): number | null | undefined {
    return this.precondition ? this.precondition.onlyVersion : null;
  }

  /** The quoted column of a property. */
  column(property: 'id' | 'version'): string {
    return quoted(this.metadata.findColumnWithPropertyName(property)!.databaseName);
  }

  /** The reason why the statement has found no row. */
  async reasonForMiss(): Promise<Error> {
    const where = { id: this.id } as FindOptionsWhere<E>;
    const row = this.precondition && (await this.manager.findOneBy(this.entity, where));
    return row ? new StaleVersionError(row.version) : new EntityNotFoundError(this.entity, where);
  }
}
