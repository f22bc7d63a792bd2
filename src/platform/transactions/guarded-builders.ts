import {
  type DataSource,
  DeleteQueryBuilder,
  type DeleteResult,
  type EntityMetadata,
  type ObjectLiteral,
  QueryBuilder,
  type QueryRunner,
  UpdateQueryBuilder,
  type UpdateResult,
} from 'typeorm';
import type { QueryExpressionMap } from 'typeorm/query-builder/QueryExpressionMap';
import { SoftDeleteQueryBuilder } from 'typeorm/query-builder/SoftDeleteQueryBuilder';
import { hasVersion, type Precondition, StaleVersionError } from './precondition';
import { UnitOfWork } from './unit-of-work';

/** The common properties of the three builders. Some are protected in TypeORM. */
interface Builder {
  dataSource: DataSource;
  queryRunner?: QueryRunner;
  expressionMap: QueryExpressionMap;
  createWhereExpression: () => string;
  replacePropertyNamesForTheWholeQuery: (statement: string) => string;
  getTableName: (path: string) => string;
  getParameters: () => ObjectLiteral;
  setParameters: (parameters: ObjectLiteral) => unknown;
}

class GuardedUpdate<E extends ObjectLiteral> extends UpdateQueryBuilder<E> {
  override execute(): Promise<UpdateResult> {
    return compared(this, () => super.execute());
  }
}

class GuardedSoftDelete<E extends ObjectLiteral> extends SoftDeleteQueryBuilder<E> {
  override execute(): Promise<UpdateResult> {
    return compared(this, () => super.execute());
  }
}

class GuardedDelete<E extends ObjectLiteral> extends DeleteQueryBuilder<E> {
  override execute(): Promise<DeleteResult> {
    return compared(this, () => super.execute());
  }
}

/**
 * Makes all later builders of TypeORM compare the expected version, and makes save() read what the database sets
 * itself. Call it before each builder is made, because each new data source registers TypeORM's own builders again.
 */
export function guardBuilders(): void {
  for (const [name, make] of BUILDERS) QueryBuilder.registerQueryBuilderClass(name, make);
}

const BUILDERS: [name: string, make: (from: QueryBuilder<ObjectLiteral>) => QueryBuilder<ObjectLiteral>][] = [
  ['UpdateQueryBuilder', (from) => new GuardedUpdate(from)],
  ['SoftDeleteQueryBuilder', (from) => new GuardedSoftDelete(from)],
  ['DeleteQueryBuilder', (from) => new GuardedDelete(from)],
];

async function compared<T extends { affected?: number | null }>(from: unknown, execute: () => Promise<T>): Promise<T> {
  const builder = from as Builder;
  const { expressionMap } = builder;
  const { metadata } = expressionMap.mainAlias?.hasMetadata ? expressionMap.mainAlias : {};
  if (!metadata) return execute();
  returnWhatTheDatabaseSets(builder, metadata);
  const precondition = UnitOfWork.current()?.pendingPrecondition;
  if (!precondition || !hasVersion(metadata)) return execute();
  const findVersion = finderOf(builder, metadata);
  demand(builder, metadata, precondition.take());
  const result = await execute();
  if (result.affected === 0) await requireNone(findVersion);
  return result;
}

/** Makes a save() read the columns that the database sets, such as `version` and `updated_at`. */
function returnWhatTheDatabaseSets({ expressionMap }: Builder, { columns }: EntityMetadata): void {
  if (!expressionMap.updateEntity || expressionMap.whereEntities.length === 0 || expressionMap.returning) return;
  const set = columns.filter(({ isInsert, isUpdate, isVirtual, isVirtualProperty, isSelect }) => {
    // A @VirtualColumn is a subquery of a SELECT.
    return !isInsert && !isUpdate && !isVirtual && !isVirtualProperty && isSelect;
  });
  if (set.length > 0) expressionMap.returning = set.map(({ propertyPath }) => propertyPath);
}

/** Adds the precondition to the builder's own conditions, even if those are alternatives. */
function demand(builder: Builder, metadata: EntityMetadata, precondition: Precondition): void {
  const values: unknown[] = [];
  const column = `"${metadata.findColumnWithPropertyName('version')!.databaseName}"`;
  const conditions = precondition.conditions(values, column, (index) => `:expected${index}`);
  builder.expressionMap.extraAppendedAndWhereCondition = conditions.join(' AND ');
  builder.setParameters(Object.fromEntries(values.map((value, index) => [`expected${index + 1}`, value])));
}

/** Reads the version of the builder's row, by the builder's current conditions. */
function finderOf(builder: Builder, metadata: EntityMetadata): () => Promise<number | undefined> {
  const { dataSource, queryRunner } = builder;
  const { databaseName } = metadata.findColumnWithPropertyName('version')!;
  const table = builder.getTableName(metadata.tablePath);
  const statement = `SELECT "${databaseName}" AS version FROM ${table} ${builder.createWhereExpression()} LIMIT 1`;
  const text = builder.replacePropertyNamesForTheWholeQuery(statement);
  const [query, values] = dataSource.driver.escapeQueryWithParameters(text, builder.getParameters());
  return async () => {
    const rows = await dataSource.query<{ version: number }[]>(query, values as unknown[], queryRunner);
    return rows[0]?.version;
  };
}

/** A missing row is reported by the service. @throws {StaleVersionError} if the row exists */
async function requireNone(findVersion: () => Promise<number | undefined>): Promise<void> {
  const version = await findVersion();
  if (version !== undefined) throw new StaleVersionError(version);
}
