/** What a user may be. ADMIN implies USER. */
export enum Role {
  USER = 'USER',
  ADMIN = 'ADMIN',
}

/** Who asks, as the database knows it at this very request; the token's own claims may be older. */
export interface Caller {
  /** The user's id. */
  id: number;
  /** Undefined for a user of an external issuer, whose sessions are there. */
  sessionId?: string;
  roles: Role[];
  /** When the password was given, in milliseconds since the epoch; tokens that were rotated keep it. */
  authenticatedAt: number;
}

export function hasRole(caller: Caller | undefined, role: Role): boolean {
  return caller !== undefined && (caller.roles.includes(role) || caller.roles.includes(Role.ADMIN));
}

export function isAdmin(caller: Caller | undefined): boolean {
  return hasRole(caller, Role.ADMIN);
}
