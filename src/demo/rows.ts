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

export function dates(created: string, updated = created): { created_at: Date; updated_at: Date } {
  return { created_at: new Date(created), updated_at: new Date(updated) };
}

/** All rows of an entity, by the value of an attribute. */
export async function rowsBy<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  key: keyof E,
): Promise<Map<string, E>> {
  return new Map((await manager.find(entity)).map((row) => [String(row[key]), row]));
}
