import type { EntityTarget, ObjectLiteral } from 'typeorm';
import {
  deleteRow,
  insertRow,
  type ListQuery,
  paginate,
  type PaginateOptions,
  readRow,
  updateRow,
} from '../../src/platform';
import { CURSORS } from '../../src/platform/lists/list-query';
import { entities, SchemedEntity, told, WatchedSubscriber } from './entities';
import { useScratchDatabase } from './scratch-database';

export type Row = ObjectLiteral & { id: number; version: number };

/** The helpers for rows, on a database with a table for each entity of these tests. */
export function useRowHelpers() {
  const scratch = useScratchDatabase([...entities, SchemedEntity], [WatchedSubscriber]);
  beforeEach(() => told.splice(0));
  const manager = () => scratch.database.manager;

  const insert = <E extends Row>(entity: EntityTarget<E>, values: Partial<E>) => insertRow(manager(), entity, values);
  const read = <E extends Row>(entity: EntityTarget<E>, id: number) => readRow(manager(), entity, id);
  const update = <E extends Row>(entity: EntityTarget<E>, id: number, values: Partial<E>) =>
    updateRow(manager(), entity, id, values);
  const remove = (entity: EntityTarget<Row>, id: number) => deleteRow(manager(), entity, id);

  /** Both ways that a list is read, and both versions. */
  async function listsOf<E extends Row>(
    entity: EntityTarget<E>,
    options: PaginateOptions<E> = {},
    query: ListQuery = {},
  ) {
    const repository = scratch.repository(entity);
    const cursors = { seal: () => 'cursor' };
    const pages = [
      await paginate(repository, query, options),
      await paginate(repository, query, { ...options, where: (builder) => builder.andWhere('true') }),
      await paginate(repository, { ...query, [CURSORS]: cursors }, options),
    ];
    return pages.map(({ data }) => data);
  }

  return { scratch, manager, insert, read, update, remove, listsOf };
}
