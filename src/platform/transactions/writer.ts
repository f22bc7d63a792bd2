/** The user on whose behalf a unit of work writes, as it was when the request was admitted. */
export interface Writer {
  /** The user's id. */
  readonly id: number;
  /** Undefined for a user who signed in elsewhere, and has no session here. */
  readonly sessionId?: string;
  readonly roles: readonly string[];
}

/** True for a user of this service: a route's own guard may have set another kind of object. */
export function isWriter(user: Writer | undefined): user is Writer {
  return user !== undefined && Number.isSafeInteger(user.id) && Array.isArray(user.roles);
}

/** SQLSTATE of a write whose writer has lost its session, its account or a role meanwhile. */
export const WRITER_CHANGED = 'WR401';

/**
 * SQL that checks the writer again and fails with WR401. In RETURNING it runs after the row was locked and written,
 * however long the statement has waited. Only the triggers AFTER the write and the commit come later.
 * @param values the values of the statement; those of the check are added
 */
export function writerCheck({ id, sessionId, roles }: Writer, values: unknown[]): string {
  const places = [sessionId ?? null, id, roles].map((value) => `$${values.push(value)}`);
  return `require_writer(${places[0]}::uuid, ${places[1]}::bigint, ${places[2]}::text[])`;
}
