/** Whom an identity provider vouches for. */
export interface Newcomer {
  email: string;
  /** The name that it goes by there, which may be none for a user of this service. */
  username?: string;
  /** Its name among people. */
  name?: string;
}

export interface Insertion {
  /** `INSERT … RETURNING id`, with its values as $1, $2 and so on. */
  text: string;
  values: unknown[];
}

/**
 * What authentication has to know of users, told by the resource that has them: a global module provides and exports
 * `{ provide: UserDirectory, useClass: … }`. Its entity is named `User`, and a migration of it makes the function
 * `require_writer(session uuid, writer bigint, held text[])`, which raises WR401 unless the writer is active and has the
 * session, if that is not null, and all the roles.
 */
export abstract class UserDirectory {
  /**
   * A SELECT that tells of each user its `id`, its `roles`, whether it is `active`, i.e. may sign in and act, and its
   * `password_hash`. Statements about sessions have it in FROM, so that they find the user too, and lock its row: a plain
   * SELECT of one table, which PostgreSQL takes for that table.
   */
  abstract readonly accounts: string;

  /** Statements that make a user, each by another name; the next is tried when one breaks a unique constraint. */
  abstract insertionsOf(newcomer: Newcomer): Insertion[];

  /** The id of the user who has an e-mail address. */
  abstract findByAddress(email: string): Promise<number | undefined>;
}
