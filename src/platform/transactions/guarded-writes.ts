import {
  type DataSource,
  EntityManager,
  type EntityMetadata,
  EntitySchema,
  type EntityTarget,
  type ObjectLiteral,
} from 'typeorm';
import { changedTables, isUpsert } from './changed-tables';
import { lockExpected } from './lock-expected';
import { hasVersion } from './precondition';
import { subscribe } from './subscribers';
import { UnitOfWork } from './unit-of-work';

type Persist = (...parameters: unknown[]) => Promise<unknown>;

/** The methods take an entity or a list of entities, optionally after their class. */
const PERSISTING = ['save', 'remove', 'softRemove', 'recover'] as const;

/** TypeORM's manager, which compares the expected version before it saves or removes an entity. */
export class GuardedManager extends EntityManager {}

for (const name of PERSISTING) {
  const persist = (EntityManager.prototype as unknown as Record<string, Persist>)[name];
  Object.defineProperty(GuardedManager.prototype, name, {
    value: function (this: GuardedManager, ...parameters: unknown[]) {
      // Compared even if save() finds no change, so that the answer doesn't depend on that.
      if (!UnitOfWork.current()?.pendingPrecondition) return persist.apply(this, parameters);
      return persistExpected(this, persist, parameters);
    },
  });
}

async function persistExpected(manager: EntityManager, persist: Persist, parameters: unknown[]): Promise<unknown> {
  const row = firstRow(manager.dataSource, parameters);
  if (!row) return persist.apply(manager, parameters);
  const inTransaction = async (inside: EntityManager) => {
    // A row that doesn't exist yet has no version.
    await lockExpected(inside, row.metadata, row.id, { withDeleted: true });
    return persist.apply(inside, parameters);
  };
  return manager.queryRunner?.isTransactionActive ? inTransaction(manager) : manager.transaction(inTransaction);
}

interface WrittenRow {
  metadata: EntityMetadata;
  id: unknown;
}

/** The first entity with a version is the subject of the request, even if others are saved with it. */
function firstRow(database: DataSource, [first, second]: unknown[]): WrittenRow | undefined {
  const hasTarget = typeof first === 'function' || typeof first === 'string' || first instanceof EntitySchema;
  const entities = [hasTarget ? second : first].flat() as object[];
  const target = hasTarget ? (first as EntityTarget<ObjectLiteral>) : entities[0]?.constructor;
  // TypeORM refuses a value that isn't an entity.
  if (!database.hasMetadata(target)) return undefined;
  const metadata = database.getMetadata(target);
  const entity = entities.find((one) => metadata.hasId(one));
  return entity && hasVersion(metadata) ? { metadata, id: metadata.getEntityIdMixedMap(entity) } : undefined;
}

/** Makes a data source refuse statements that would change a row without comparing the expected version. */
export function refuseUnguardedStatements(database: DataSource): void {
  subscribe(database, {
    beforeQuery: ({ query }) => {
      if (UnitOfWork.current()?.pendingPrecondition) requireGuarded(database, query);
    },
  });
}

function requireGuarded({ entityMetadatas }: DataSource, query: string): void {
  const tables = changedTables(query);
  const entity = entityMetadatas.find((one) => tables.includes(one.tableName.toLowerCase()) && hasVersion(one));
  if (!entity) return;
  const passesOver = "doesn't compare the version that If-Match or If-None-Match names";
  throw new Error(
    isUpsert(query)
      ? `An upsert of ${entity.name} may change a stored row, and ${passesOver}: which row that is shows when it runs. ` +
          'Find the row first. If it exists, use updateRow() or save() on it, else insert it. If the upsert is not about ' +
          'the row of the request, write that row first, or lock it and call requireExpected(row, expected).'
      : `This statement changes ${entity.name} and ${passesOver}. ` +
          'Use updateRow(), deleteRow() or a repository, or lock the row and call requireExpected(row, expected) before.',
  );
}
