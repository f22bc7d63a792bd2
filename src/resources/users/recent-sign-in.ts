import { AuthenticationError, type Caller } from '../../platform';

/**
 * How long ago, in seconds, the caller may have signed in to change what a user signs in with, to give a user rights, or to
 * delete it.
 */
const SIGN_IN_MAX_AGE = 600;
const MILLISECOND = 1_000;

/** @throws {AuthenticationError} when the caller signed in too long ago */
export function requireRecentSignIn({ authenticatedAt }: Caller): void {
  if (Date.now() - authenticatedAt <= SIGN_IN_MAX_AGE * MILLISECOND) return;
  throw signInTooOld();
}

/** 401 for what needs a recent sign-in, with an old token, however valid. */
export function signInTooOld(): AuthenticationError {
  return AuthenticationError.tooOld(SIGN_IN_MAX_AGE);
}
