import type { EntityManager } from 'typeorm';
import { ApiError } from '../../platform';

/**
 * How many orders of a user are PENDING, and so hold stock that nobody has paid; no further than `limit`. Until the
 * transaction ends, no other one counts those of this user: of two at once each would see the room that only one can have.
 */
export async function countOpenOrders(manager: EntityManager, userId: number, limit: number): Promise<number> {
  await manager.query("SELECT pg_advisory_xact_lock(hashtextextended('resource-api: open orders ' || $1, 0))", [
    userId,
  ]);
  const [{ open }] = await manager.query<{ open: number }[]>(
    `SELECT count(*)::integer AS open
       FROM (SELECT FROM orders WHERE user_id = $1 AND status = 'PENDING' LIMIT $2) AS orders`,
    [userId, limit],
  );
  return open;
}

/** 409 for one open order more than a user may have. */
export const tooManyOpenOrders = (limit: number): ApiError =>
  new ApiError('CONFLICT', { details: `You have ${limit} orders that are PENDING, and may have no more; cancel some` });
