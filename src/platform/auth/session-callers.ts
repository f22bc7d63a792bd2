import { BatchedRead } from '../rows/batched-read';
import type { Role } from './caller';

interface SessionCaller {
  sid: string;
  id: number;
  roles: Role[];
  authenticated_at: Date;
}

/** Reads the active users behind sessions, in batches. @param accounts the `accounts` of the UserDirectory */
export function sessionCallers(accounts: string): BatchedRead<string, SessionCaller> {
  return new BatchedRead(
    'read-callers',
    `SELECT sessions.id AS sid, account.id, account.roles, sessions.authenticated_at
       FROM sessions JOIN (${accounts}) AS account ON account.id = sessions.user_id
      WHERE sessions.id = ANY($1::uuid[]) AND account.active`,
    ({ sid }) => sid,
  );
}
