/** On whose behalf a unit of work writes, as the database knew it when the request was let in. */
export interface Writer {
  /** The user's id. */
  readonly id: number;
  /** Undefined when the user signed in elsewhere, and has no session here. */
  readonly sessionId?: string;
  readonly roles: readonly string[];
}

/** Whether it is a user of this service: a guard of a route's own may have put somebody else there. */
export function isWriter(user: Writer | undefined): user is Writer {
  return user !== undefined && Number.isSafeInteger(user.id) && Array.isArray(user.roles);
}

/** SQLSTATE of a write whose writer has lost its session, its account or a role meanwhile. */
export const WRITER_CHANGED = 'WR401';

/**
 * The check that a writer still is who it was, as an expression; it fails with the state above. In RETURNING it is
 * made when the row has been locked and written: whatever the statement waited for, it is the last thing before the commit.
 * @param values of the statement; gets those of the check
 */
export function writerCheck({ id, sessionId, roles }: Writer, values: unknown[]): string {
  const places = [sessionId ?? null, id, roles].map((value) => `$${values.push(value)}`);
  return `require_writer(${places[0]}::uuid, ${places[1]}::bigint, ${places[2]}::text[])`;
}
