import type { DataSource } from 'typeorm';
import { type Caller, Role } from '../auth/caller';
import { changedTypes } from './changed-types';

/** Whose rights a job of the service has. */
const ADMINISTRATOR: Caller = { id: 0, roles: [Role.ADMIN], authenticatedAt: 0 };

/**
 * The representations of resources as administrators see them now, by their ids; for jobs, which have no request. Deleted
 * ones are left out. The caller bounds the number of ids.
 */
export async function currentResources(
  database: DataSource,
  typeName: string,
  ids: readonly number[],
): Promise<Map<number, object>> {
  const rows = (await changedTypes(database)).find(({ name }) => name === typeName)?.rows;
  if (!rows || ids.length === 0) return new Map();
  const builder = database.getRepository(rows.entity).createQueryBuilder('resource');
  builder.where('resource.id = ANY(:ids)', { ids });
  for (const [name, column] of Object.entries(rows.relations)) {
    builder.leftJoinAndSelect(`resource.${name}`, name).addOrderBy(`${name}.${column}`);
  }
  rows.where?.(builder, ADMINISTRATOR, 'resource');
  const found = await builder.getMany();
  return new Map(found.map((row) => [row.id, rows.toItem(row, ADMINISTRATOR)]));
}
