import { BatchedRead, keysOf } from '../rows/batched-read';
import { positionFor } from '../replica/positions';
import type { Role } from './caller';

interface SessionCaller {
  sid: string;
  id: number;
  roles: Role[];
  authenticated_at: Date;
  position?: number | null;
}

/**
 * Reads the active users behind sessions, in batches, from the primary.
 * @param accounts the `accounts` of the UserDirectory
 * @param positions whether there is a replica, for which the positions of their last writes are read
 */
export function sessionCallers(accounts: string, positions: boolean): BatchedRead<string, SessionCaller> {
  const position = positions ? `, ${positionFor('account.id')} AS position` : '';
  return new BatchedRead(
    'read-callers',
    `SELECT sessions.id AS sid, account.id, account.roles, sessions.authenticated_at${position}
       FROM sessions JOIN (${accounts}) AS account ON account.id = sessions.user_id
      WHERE sessions.id = ANY(${keysOf('uuid')}) AND account.active`,
    ({ sid }) => sid,
  );
}
