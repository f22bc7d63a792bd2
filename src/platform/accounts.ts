/** Names for resources that sign users in: here `users`, `tokens` and `keys`. */

// Accounts: for resources that sign users in.
/** What authentication needs to know about users. The users resource provides it. */
export { type Insertion, type Newcomer, UserDirectory } from './auth/user-directory';
/** Sessions: a sign-in starts one, and refresh tokens prolong it. */
export { Sessions, type TokenPair } from './auth/sessions';
/** The public keys of access tokens. */
export { SigningKeys } from './auth/signing-keys';
/** Hashes and verifies passwords, a few at a time; each user changes one at a time. */
export { hashPassword, oneChangeAtATime, verifyPassword } from './auth/passwords';
/** Who may have a password here, and the 403 for users of the identity provider. */
export { addressIsElsewhere, LocalPasswords, signsInElsewhere } from './auth/local-passwords';
/** The 401 that tells the client what is wrong with its token. */
export { AuthenticationError } from './auth/auth-errors';
/** Writes the log lines of sign-ins, passwords and rights. */
export { actsOnItself, SecurityEvents } from './auth/security-events';
/** The form by which usernames and e-mail addresses are compared. */
export { identityKey } from './text/identity-key';
