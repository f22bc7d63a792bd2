import { Role } from '../platform';
import { UserStatus } from '../resources/users/user.entity';

// Fixed dates, so that these rows are always the same. They aren't in the order of the ids, so that sorting shows.

/** Printed at the start. It only opens demo accounts, and a start in production refuses accounts that have it. */
export const DEMO_PASSWORD = 'demo-password';

export function demoEmail(username: string): string {
  return `${username}@example.com`;
}

/** The examples of the document refer to the first rows by the id 1. Their caller is ada. */
export const demoUsers = [
  { created: '2026-01-05T08:00:00Z', username: 'ada', name: 'Ada Lovelace' },
  { created: '2026-01-02T07:30:00Z', username: 'grace', name: 'Grace Hopper', roles: [Role.USER, Role.ADMIN] },
  { created: '2026-01-09T16:45:00Z', username: 'edsger', name: 'Edsger Dijkstra' },
  { created: '2026-01-07T11:20:00Z', username: 'barbara', name: 'Barbara Liskov' },
  { created: '2026-01-11T23:55:00Z', username: 'mallory', name: null, status: UserStatus.SUSPENDED },
];
