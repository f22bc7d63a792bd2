/**
 * The roles of users. A new role needs a name here, an entry in {@link ROLES}, and a migration that adds it to the
 * constraint `users_roles_known`. Access rules, documents and input checks follow.
 */
export enum Role {
  USER = 'USER',
  ADMIN = 'ADMIN',
}

interface RoleFacts {
  /** The holders of the role, as the document calls them: "For administrators." */
  people: string;
  /** Roles whose rights are included. */
  implies: readonly Role[];
}

export const ROLES: Record<Role, RoleFacts> = {
  [Role.USER]: { people: 'everyone who signed in', implies: [] },
  [Role.ADMIN]: { people: 'administrators', implies: Object.values(Role) },
};

/** The caller of a request, read from the database during this request. The token's own claims may be older. */
export interface Caller {
  /** The user's id. */
  id: number;
  /** Undefined for a user of an external issuer, which keeps the sessions itself. */
  sessionId?: string;
  roles: Role[];
  /** When the password was entered, in milliseconds since the epoch. Rotated tokens keep it. */
  authenticatedAt: number;
  /**
   * What a replica must have replayed to show what the user has written; undefined if the primary must be asked, or there is no
   * replica.
   */
  position?: number;
  /**
   * Checks again whether the credentials are valid, e.g. an API key that may be withdrawn. Called after a request has
   * waited for its body.
   */
  isStillGood?: () => Promise<boolean>;
}

export function hasRole(caller: Caller | undefined, role: Role): boolean {
  return caller !== undefined && (caller.roles.includes(role) || caller.roles.some((held) => implies(held, role)));
}

/** True if holders of one role have all rights of another. */
function implies(held: Role, role: Role): boolean {
  return ROLES[held]?.implies.includes(role) ?? false;
}

/** The people who have one of some roles, e.g. "editors and administrators". */
export function peopleWith(roles: readonly Role[]): string {
  if (roles.includes(Role.USER)) return ROLES[Role.USER].people;
  const able = Object.values(Role).filter((held) => roles.some((role) => role === held || implies(held, role)));
  return new Intl.ListFormat('en').format(able.map((role) => ROLES[role].people));
}

export function isAdmin(caller: Caller | undefined): boolean {
  return hasRole(caller, Role.ADMIN);
}
