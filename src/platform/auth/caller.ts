/**
 * What a user may be. A new role is a name here, its line in {@link ROLES}, and a migration that has the constraint
 * `users_roles_known` know it; rules, documents and checks of what comes in follow.
 */
export enum Role {
  USER = 'USER',
  ADMIN = 'ADMIN',
}

interface RoleFacts {
  /** Who has it, for the document: "For administrators." */
  people: string;
  /** What else its holders may do. */
  implies: readonly Role[];
}

export const ROLES: Record<Role, RoleFacts> = {
  [Role.USER]: { people: 'everyone who signed in', implies: [] },
  [Role.ADMIN]: { people: 'administrators', implies: Object.values(Role) },
};

/** Who asks, as the database knows it at this very request; the token's own claims may be older. */
export interface Caller {
  /** The user's id. */
  id: number;
  /** Undefined for a user of an external issuer, whose sessions are there. */
  sessionId?: string;
  roles: Role[];
  /** When the password was given, in milliseconds since the epoch; tokens that were rotated keep it. */
  authenticatedAt: number;
  /** Whether the credentials are still good, such as a key that may be withdrawn; asked when a body was waited for. */
  isStillGood?: () => Promise<boolean>;
}

export function hasRole(caller: Caller | undefined, role: Role): boolean {
  return caller !== undefined && (caller.roles.includes(role) || caller.roles.some((held) => implies(held, role)));
}

/** Whether holders of a role may do what those of another may. */
function implies(held: Role, role: Role): boolean {
  return ROLES[held]?.implies.includes(role) ?? false;
}

/** For whom it is what one of some roles may do, e.g. "editors and administrators". */
export function peopleWith(roles: readonly Role[]): string {
  if (roles.includes(Role.USER)) return ROLES[Role.USER].people;
  const able = Object.values(Role).filter((held) => roles.some((role) => role === held || implies(held, role)));
  return new Intl.ListFormat('en').format(able.map((role) => ROLES[role].people));
}

export function isAdmin(caller: Caller | undefined): boolean {
  return hasRole(caller, Role.ADMIN);
}
