/** A user of the identity provider who signs in here for the first time. */
export interface Newcomer {
  email: string;
  /** The username at the identity provider, which need not be a valid username here. */
  username?: string;
  /** The display name. */
  name?: string;
}

export interface Insertion {
  /** `INSERT … RETURNING id`, with its values as $1, $2 and so on. */
  text: string;
  values: unknown[];
}

/**
 * What authentication needs to know about users. The users resource provides it, in a global module: `{ provide:
 * UserDirectory, useClass: … }`. Its entity is named `User`. One of its migrations creates the function
 * `require_writer(session uuid, writer bigint, held text[])`, which raises WR401 unless the writer is active, owns the
 * session (if it is not null), and has all the roles.
 */
export abstract class UserDirectory {
  /**
   * A SELECT of each user's `id`, `roles`, `password_hash`, and `active`, which is true if the user may sign in and
   * act. Statements about sessions use it in FROM, to find the user and to lock its row. So it must be a plain SELECT
   * from one table, which PostgreSQL can lock.
   */
  abstract readonly accounts: string;

  /**
   * Statements that insert a user, each with another username. The next one is tried if one violates a unique
   * constraint.
   */
  abstract insertionsOf(newcomer: Newcomer): Insertion[];

  /** The id of the user with this e-mail address. */
  abstract findByAddress(email: string): Promise<number | undefined>;
}
