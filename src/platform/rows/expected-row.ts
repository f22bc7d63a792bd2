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

/** A row with an id and a version, which is its own resource. */
export interface VersionedRow extends ObjectLiteral {
  id: number;
  version: number;
}

/** The row that one statement is to write, in a version that the caller expects. */
export class ExpectedRow<E extends VersionedRow> {
  private readonly metadata: EntityMetadata;
  private readonly precondition?: Precondition;

  /** @param expected what its writer was passed. Default: what the request demands of the first row that it writes */
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
   * As the condition of the statement. A row that is hidden isn't there.
   * @param values of the statement; gets those of the condition
   */
  condition(values: unknown[]): string {
    const { deleteDateColumn } = this.metadata;
    return [
      `${this.column('id')} = $${values.push(this.id)}`,
      ...(deleteDateColumn ? [`${quoted(deleteDateColumn.databaseName)} IS NULL`] : []),
      ...(this.precondition?.conditions(values, this.column('version')) ?? []),
    ].join(' AND ');
  }

  /** The column of a property, as SQL has it. */
  column(property: 'id' | 'version'): string {
    return quoted(this.metadata.findColumnWithPropertyName(property)!.databaseName);
  }

  /** What has kept the statement from finding the row. */
  async reasonForMiss(): Promise<Error> {
    const where = { id: this.id } as FindOptionsWhere<E>;
    const row = this.precondition && (await this.manager.findOneBy(this.entity, where));
    return row ? new StaleVersionError(row.version) : new EntityNotFoundError(this.entity, where);
  }
}
