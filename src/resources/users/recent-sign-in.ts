import { AuthenticationError, type Caller, seconds } from '../../platform';

/**
 * How long ago, in seconds, the caller may have signed in to change what a user signs in with, to give a user rights, or to
 * delete it.
 */
const SIGN_IN_MAX_AGE = 600;

/** @throws {AuthenticationError} when the caller signed in too long ago */
export function requireRecentSignIn({ authenticatedAt }: Caller): void {
  if (Date.now() - authenticatedAt <= seconds(SIGN_IN_MAX_AGE)) return;
  throw signInTooOld();
}

/** 401 for what needs a recent sign-in, with an old token, however valid. */
export function signInTooOld(): AuthenticationError {
  return AuthenticationError.tooOld(SIGN_IN_MAX_AGE);
}
