import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { runStatement } from './statement';

/** Writes a new row and returns it, in one statement. Columns that are undefined take their default. */
export async function insertRow<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  const { tableName, columns: known } = manager.dataSource.getMetadata(entity);
  const given = known.filter(({ propertyName }) => columns[propertyName] !== undefined);
  const names = given.map(({ databaseName }) => `"${databaseName}"`);
  const places = given.map((_, index) => `$${index + 1}`);
  const text = `INSERT INTO "${tableName}" (${names.join()}) VALUES (${places.join()}) RETURNING *`;
  const values = given.map(({ propertyName }) => columns[propertyName] as unknown);
  // Columns are named like the properties, and the driver parses their values.
  return (await runStatement<E>(manager, text, values))[0];
}
