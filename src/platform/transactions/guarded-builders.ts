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

/** What the three builders have in common; TypeORM keeps some of it from its callers. */
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
 * Has every builder that TypeORM makes from now on compare the version that the caller expects, and save() learn what the
 * database sets by itself. To be called before each of them, as each new data source registers TypeORM's own builders again.
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

/** Of a save(): the columns that are nobody's to write, such as `version` and `updated_at`, are in the entity afterwards. */
function returnWhatTheDatabaseSets({ expressionMap }: Builder, { columns }: EntityMetadata): void {
  if (!expressionMap.updateEntity || expressionMap.whereEntities.length === 0 || expressionMap.returning) return;
  const set = columns.filter(({ isInsert, isUpdate, isVirtual, isSelect }) => {
    return !isInsert && !isUpdate && !isVirtual && isSelect;
  });
  if (set.length > 0) expressionMap.returning = set.map(({ propertyPath }) => propertyPath);
}

/** Beside the builder's own conditions, whichever of them are alternatives. */
function demand(builder: Builder, metadata: EntityMetadata, precondition: Precondition): void {
  const values: unknown[] = [];
  const column = `"${metadata.findColumnWithPropertyName('version')!.databaseName}"`;
  const conditions = precondition.conditions(values, column, (index) => `:expected${index}`);
  builder.expressionMap.extraAppendedAndWhereCondition = conditions.join(' AND ');
  builder.setParameters(Object.fromEntries(values.map((value, index) => [`expected${index + 1}`, value])));
}

/** Asks for the version of the row that the builder is about, as its conditions are now. */
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

/** A row that isn't there is the service's to speak of. @throws {StaleVersionError} */
async function requireNone(findVersion: () => Promise<number | undefined>): Promise<void> {
  const version = await findVersion();
  if (version !== undefined) throw new StaleVersionError(version);
}
