import type { Response } from 'express';
import type { DataSource, EntityManager, ObjectLiteral } from 'typeorm';
import { MAX_ANSWER_BYTES } from '../answers/largest-size';
import { leavePlace, readInPlace } from '../answers/page-place';
import { isBound } from '../rows/statement';
import { hasOwnPool } from '../transactions/cancellable-pool';
import { UnitOfWork } from '../transactions/unit-of-work';
import { type FoundRows, wholeRows } from './found-rows';
import { inListLane } from './list-lane';
import type { HeavyRows } from './row-sizes';
import { Searches } from './searches';

/** The greatest number of bytes in memory of a byte of text in the database. */
export const IN_MEMORY = 2;

/** How large rows are read that have been found. */
export interface HeavyReads<E> {
  /** Reads the found rows alone, by their ids. */
  found: () => Promise<FoundRows<E>>;
  /** Finds and reads rows in one statement. */
  anew: () => Promise<FoundRows<E>>;
  /** What is searched, if anything. */
  search?: string;
}

/**
 * Whether the rows of a list may wait for the place of large pages: an answer is to be made of them, and no connection is
 * held. The one who has the place may wait for that.
 */
export function mayWaitForPlace(manager: EntityManager, work: UnitOfWork): boolean {
  if (!work.origin?.res || !hasOwnPool(manager.dataSource) || isBound(manager)) return false;
  const current = UnitOfWork.current();
  return (!current || (current === work && work.clients.size === 0)) && !UnitOfWork.own();
}

/**
 * Reads large rows in the place of large pages. They are read by their ids: whoever has the place neither counts, skips nor
 * searches rows. If others have changed them meanwhile, so that they are no longer the rows of the page, the list is read anew
 * after the place is left: nobody who waits for the place should wait for that.
 */
export async function heavyRows<E extends ObjectLiteral>(
  database: DataSource,
  work: UnitOfWork,
  { bytes }: HeavyRows,
  { found, anew, search }: HeavyReads<E>,
): Promise<E[]> {
  const response = work.origin!.res as unknown as Response;
  const rows = await readInPlace(response, IN_MEMORY * Math.min(bytes, MAX_ANSWER_BYTES), async (waitedLong) => {
    if (waitedLong) work.waitedLong = true;
    const read = await found();
    return read.changed ? undefined : wholeRows(read, work);
  });
  if (rows) return rows;
  leavePlace(response);
  const inTurn = () =>
    search === undefined ? inListLane(database, work, anew) : Searches.of(database).run(search, work, anew);
  return wholeRows(await inTurn(), work);
}
