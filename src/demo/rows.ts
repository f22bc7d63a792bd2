import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

/** Rows with the ids that they got. */
export async function add<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: object[],
): Promise<E[]> {
  const made = rows.map((row) => manager.create(entity, row as E));
  // Named one by one, as the database sets the dates unless they are.
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  await manager.createQueryBuilder().insert().into(entity, columns).values(made).execute();
  return made;
}
