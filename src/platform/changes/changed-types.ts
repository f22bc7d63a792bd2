import type { DataSource } from 'typeorm';
import { type Includable, includableOf } from '../input/includes';

/** The tables whose changes are in the feed: their triggers have this argument. */
const FED_TABLES = `
  SELECT relname AS table FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE tgname = relname || '_audit_insert' AND tgnargs > 0 AND tgenabled <> 'D' ORDER BY relname`;

/** A type of resources whose changes are told. */
export interface ChangedType {
  /** The resource, as in its paths. */
  name: string;
  /** How callers see its rows. Without it, administrators alone see its changes. */
  rows?: Includable;
}

const known = new WeakMap<DataSource, Promise<ChangedType[]>>();

/** The types in the order of their names. A migration of `auditRows()` with `readers` adds one; the next start finds it. */
export function changedTypes(database: DataSource): Promise<ChangedType[]> {
  let types = known.get(database);
  if (!types) {
    known.set(database, (types = find(database)));
    types.catch(() => known.delete(database));
  }
  return types;
}

async function find(database: DataSource): Promise<ChangedType[]> {
  const tables = await database.query<{ table: string }[]>(FED_TABLES);
  return tables.map(({ table }) => {
    const entity = database.entityMetadatas.find(({ tableName }) => tableName === table);
    return { name: table.replaceAll('_', '-'), rows: entity && includableOf(entity.target as object) };
  });
}
