import type { Response } from 'express';
import type { DataSource } from 'typeorm';
import { LargestSize, MAX_ANSWER_BYTES } from '../answers/largest-size';
import { hasPlace, readInPlace } from '../answers/page-place';
import type { IncludedRow } from '../input/includes';
import { plainEntity } from '../rows/plain-entity';
import { readPlainRowsById } from '../rows/read-row';
import { isBound } from '../rows/statement';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { wholeRows } from './found-rows';
import { IN_MEMORY, mayWaitForPlace } from './heavy-rows';
import { inOwnTurn, onOwnConnection } from './own-turn';
import { readRelated, type RelatedRead, type Wanted } from './related-statement';
import { LIGHT_BYTES, mayWeigh } from './row-sizes';

/** For whom rows are read. */
export interface Reading {
  database: DataSource;
  work: UnitOfWork;
  response: Response;
  /** Whether an answer that would be too large is shortened. Otherwise its rows need not be read. */
  mayShorten: boolean;
}

/** The rows of each key. */
export interface RelatedRows {
  rows: Map<number, IncludedRow[]>;
  totals: Map<number, number>;
  /** How many of the first keys have their rows. The others would make the answer too large. */
  complete: number;
}

/**
 * Reads the rows that an answer includes by one relation, in one statement. Rows with large texts are read by a second
 * one, in the place of large pages (D-201). Rows that would make the answer too large aren't read.
 */
export async function relatedRows(wanted: Wanted, reading: Reading): Promise<RelatedRows> {
  const { keys, relation, caller } = wanted;
  if (keys.length === 0 || !relation.rows.mayBeReadBy(caller)) {
    return { rows: new Map(), totals: new Map(), complete: keys.length };
  }
  const shared = await readShared(wanted, reading);
  if (shared) return { rows: new Map(shared.map((row) => [row.id, [row]])), totals: new Map(), complete: keys.length };
  const read = await readMeasured(wanted, reading);
  const rows = new Map<number, IncludedRow[]>();
  for (const row of read.entities.sort((one, other) => one.id - other.id)) {
    const key = row[relation.by] as number;
    const others = rows.get(key);
    if (others) others.push(row);
    else rows.set(key, [row]);
  }
  return { rows, totals: read.totals, complete: read.complete };
}

/** Small rows that are found by their ids alone are read as GET reads one: concurrent requests share the statement. */
async function readShared(wanted: Wanted, { database }: Reading): Promise<IncludedRow[] | undefined> {
  const { by, rows } = wanted.relation;
  const isById = by === 'id' && !rows.where && !rows.belongsTo && Object.keys(rows.relations).length === 0;
  if (!isById || mayBeLarge(wanted) || isBound(database.manager)) return undefined;
  const plain = plainEntity(database, rows.entity);
  return plain && readPlainRowsById(database, plain, wanted.keys);
}

async function readMeasured(wanted: Wanted, reading: Reading): Promise<RelatedRead> {
  const { database, work, response, mayShorten } = reading;
  const first = { of: 'first', bytes: MAX_ANSWER_BYTES } as const;
  const mayWait = mayWaitForPlace(database.manager, work);
  // Whoever has the place of large pages must not wait in the queue of lists.
  const inTurn = hasPlace(response) ? onOwnConnection : inOwnTurn;
  const bound = mayWait && mayBeLarge(wanted) ? ({ of: 'all', bytes: LIGHT_BYTES } as const) : first;
  const read = await inTurn(database.manager, work, (manager) => readRelated(manager, wanted, bound));
  if (read.isWhole || bound === first) return made(read, reading);
  if (read.bytes > MAX_ANSWER_BYTES && !mayShorten) return read;
  return readInPlace(response, IN_MEMORY * Math.min(read.bytes, MAX_ANSWER_BYTES), async (waitedLong) => {
    if (waitedLong) work.waitedLong = true;
    // Counted already: nobody counts in the place.
    const again = { ...wanted, counts: false };
    const all = await onOwnConnection(database.manager, work, (manager) => readRelated(manager, again, first));
    return made({ ...all, totals: read.totals }, reading);
  });
}

async function made(read: RelatedRead, { work }: Reading): Promise<RelatedRead> {
  await wholeRows(read, work);
  return read;
}

/** True if the documented lengths allow texts that should not be read by many at once. */
const mayBeLarge = ({ relation, keys, limit }: Wanted): boolean =>
  mayWeigh(LargestSize.of(relation.rows.shown).whole * keys.length * limit);
