import { type Caller, seconds } from '../../platform';
import { AuthenticationError } from '../../platform/accounts';

/** The greatest age of a sign-in, in seconds, for changing credentials, granting roles, or deleting a user. */
const SIGN_IN_MAX_AGE = 600;

/** @throws {AuthenticationError} when the caller's sign-in is too old */
export function requireRecentSignIn({ authenticatedAt }: Caller): void {
  if (Date.now() - authenticatedAt <= seconds(SIGN_IN_MAX_AGE)) return;
  throw signInTooOld();
}

/** 401 for an action that requires a recent sign-in. The token itself may be valid. */
export function signInTooOld(): AuthenticationError {
  return AuthenticationError.tooOld(SIGN_IN_MAX_AGE);
}
