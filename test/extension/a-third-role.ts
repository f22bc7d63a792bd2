import { Role, ROLES } from '../../src/platform';

/** What a team writes into src/platform/auth/caller.ts; here it has to come before everything that reads the roles. */
export const EDITOR = 'EDITOR' as Role;
Object.assign(Role, { EDITOR });
ROLES[EDITOR] = { people: 'editors', implies: [Role.USER] };
ROLES[Role.ADMIN] = { ...ROLES[Role.ADMIN], implies: Object.values(Role) };
