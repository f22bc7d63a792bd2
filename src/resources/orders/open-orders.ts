import type { EntityManager } from 'typeorm';
import { type ApiError, conflict, lockAndQuery } from '../../platform';

/**
 * The number of a user's PENDING orders, which hold unpaid stock, counted up to `limit`. Locks the count until the
 * transaction ends: two concurrent orders would both see the last free place.
 */
export async function countOpenOrders(manager: EntityManager, userId: number, limit: number): Promise<number> {
  const [{ open }] = await lockAndQuery<{ open: number }>(
    manager,
    `open orders ${userId}`,
    `SELECT count(*)::integer AS open
       FROM (SELECT FROM orders WHERE user_id = $1 AND status = 'PENDING' LIMIT $2) AS orders`,
    [userId, limit],
  );
  return open;
}

/** 409 for an open order above the limit. */
export const tooManyOpenOrders = (limit: number): ApiError =>
  conflict([{ field: 'body', rule: 'limit', message: `must wait: ${limit} orders are PENDING, which is the limit` }], {
    details: `You have ${limit} PENDING orders, which is the limit; cancel one first`,
  });
