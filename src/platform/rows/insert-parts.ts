import {
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import { MAX_PARAMETERS } from './statement';
import { quoted } from './plain-entity';

/** Rows that are read again by one statement. With more of them TypeORM takes longer for each. */
const READ_TOGETHER = 50;
const ALIAS = 'part';

/** The parts of a row's primary key as PostgreSQL writes them: a value of JavaScript may be another, as a rounded moment. */
type Key = string[];
type Raw = Record<string, string>;

/**
 * Inserts rows without an id of their own by TypeORM, and returns them as `find()` reads them. `save()` would look for
 * each row first, and change one that is there.
 */
export async function insertParts<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const repository = manager.getRepository(entity);
  const { columns, primaryColumns } = repository.metadata;
  const entities: ObjectLiteral[] = repository.create(rows as never[]);
  const together = Math.floor(MAX_PARAMETERS / columns.length);
  // What insert() returns, from which TypeORM completes the rows for subscribers, and the key.
  const returned = repository.metadata.getInsertionReturningColumns().map(({ databaseName }) => quoted(databaseName));
  const keys = primaryColumns.map(({ databaseName }, index) => `${quoted(databaseName)}::text AS ${nameOf(index)}`);
  const stored: E[] = [];
  for (let at = 0; at < entities.length; at += together) {
    const part = entities.slice(at, at + together) as never[];
    const builder = manager.createQueryBuilder().insert().into(entity).values(part);
    const result = await builder.returning([...returned, ...keys].join()).execute();
    const made = (result.raw as Raw[]).map((row) => keyOf(row, primaryColumns.length));
    for (let from = 0; from < made.length; from += READ_TOGETHER) {
      stored.push(...(await readAgain(repository, made.slice(from, from + READ_TOGETHER))));
    }
  }
  return stored;
}

async function readAgain<E extends ObjectLiteral>(repository: Repository<E>, keys: Key[]): Promise<E[]> {
  const found = await find(repository, keys);
  const rows: E[] = [];
  for (const key of keys) {
    const row = found.get(JSON.stringify(key)) ?? (await findOne(repository, key));
    // This transaction has just written the row.
    if (!row) throw new EntityNotFoundError(repository.target, key);
    rows.push(row);
  }
  return rows;
}

/** Also finds a row that was inserted as a hidden one. */
async function findOne<E extends ObjectLiteral>(repository: Repository<E>, key: Key): Promise<E | undefined> {
  const present = await find(repository, [key]);
  const [row] = (present.size > 0 ? present : await find(repository, [key], true)).values();
  return row;
}

async function find<E extends ObjectLiteral>(
  repository: Repository<E>,
  keys: Key[],
  withDeleted = false,
): Promise<Map<string, E>> {
  const columns = repository.metadata.primaryColumns.map(({ databaseName }) => `"${ALIAS}".${quoted(databaseName)}`);
  const builder = repository.createQueryBuilder(ALIAS).setFindOptions({ withDeleted });
  for (const [index, column] of columns.entries()) builder.addSelect(`${column}::text`, nameOf(index));
  const parameters: Record<string, string> = {};
  const alternatives = keys.map((key, row) => {
    const conditions = columns.map((column, index) => {
      const name = `key_${row}_${index}`;
      parameters[name] = key[index];
      return `${column} = :${name}`;
    });
    return `(${conditions.join(' AND ')})`;
  });
  builder.andWhere(`(${alternatives.join(' OR ')})`, parameters);
  const { raw, entities } = await builder.getRawAndEntities<Raw>();
  const inOrder = [...new Set(raw.map((row) => JSON.stringify(keyOf(row, columns.length))))];
  // TypeORM takes keys for one whose texts are the same when they are joined, such as a_b, c and a, b_c.
  if (inOrder.length !== entities.length) return new Map();
  return new Map(entities.map((one, index) => [inOrder[index], one]));
}

const nameOf = (index: number): string => `part_key_${index}`;

const keyOf = (row: Raw, count: number): Key => Array.from({ length: count }, (_, index) => row[nameOf(index)]);
