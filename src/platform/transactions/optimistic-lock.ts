import {
  type EntityMetadata,
  type ObjectLiteral,
  OptimisticLockVersionMismatchError,
  SelectQueryBuilder,
} from 'typeorm';
import { hasVersion } from './precondition';

type GetOne = (this: SelectQueryBuilder<ObjectLiteral>) => Promise<ObjectLiteral | null>;

const ofTypeOrm = Object.getOwnPropertyDescriptor(SelectQueryBuilder.prototype, 'getOne')?.value as GetOne;

/**
 * TypeORM compares the version of an optimistic lock with a `@VersionColumn()`, or its moment with an `@UpdateDateColumn()`. The
 * columns of a ResourceEntity are neither, because TypeORM would write them, and the trigger `touch_row` does.
 */
SelectQueryBuilder.prototype.getOne = function (this: SelectQueryBuilder<ObjectLiteral>) {
  const { lockMode, lockVersion, mainAlias } = this.expressionMap;
  if (lockMode !== 'optimistic' || lockVersion === undefined || !isOwn(mainAlias?.metadata))
    return ofTypeOrm.call(this);
  return getCompared(this, mainAlias!.metadata, lockVersion);
};

async function getCompared(
  builder: SelectQueryBuilder<ObjectLiteral>,
  metadata: EntityMetadata,
  expected: number | Date,
): Promise<ObjectLiteral | null> {
  const { expressionMap } = builder;
  // TypeORM refuses the mode for an entity without columns of its own, before it reads the row.
  expressionMap.lockMode = undefined;
  const row = await ofTypeOrm.call(builder).finally(() => (expressionMap.lockMode = 'optimistic'));
  if (row) requireSame(metadata, expected, row);
  return row;
}

const isOwn = (metadata?: EntityMetadata): boolean =>
  metadata !== undefined && !metadata.versionColumn && !metadata.updateDateColumn && hasVersion(metadata);

function requireSame({ name }: EntityMetadata, expected: number | Date, row: ObjectLiteral): void {
  const actual = (expected instanceof Date ? row.updated_at : row.version) as number | Date;
  if (actual?.valueOf() !== expected.valueOf()) throw new OptimisticLockVersionMismatchError(name, expected, actual);
}
