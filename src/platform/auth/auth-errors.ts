import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { type Caller, isAdmin } from './caller';
import { REUSE_GRACE } from './refresh-tokens';

/** 401 with the challenge that tells the client what is wrong with its token (RFC 6750, RFC 9470). */
export class AuthenticationError extends UnauthorizedException {
  constructor(
    message: string,
    readonly challenge: string,
    readonly details = message,
  ) {
    super(message);
  }

  static noToken(): AuthenticationError {
    return new AuthenticationError('Authentication is required', 'Bearer');
  }

  static invalidToken(): AuthenticationError {
    return new AuthenticationError('The access token is not valid', 'Bearer error="invalid_token"');
  }

  static wrongCredentials(): AuthenticationError {
    return new AuthenticationError('The credentials are not valid', 'Bearer');
  }

  /**
   * For a refresh token that was exchanged a moment ago, so that a page looks for the tokens of another tab. The challenge
   * has no `error`: nobody has sent an access token.
   */
  static repeatedRefresh(): AuthenticationError {
    const { message } = AuthenticationError.wrongCredentials();
    const reason = `The refresh token was exchanged within the last ${REUSE_GRACE} seconds`;
    return new AuthenticationError(message, `Bearer error_description="${reason}"`, `${reason}; use the new tokens`);
  }

  /** @param maxAge how many seconds ago the password may have been entered */
  static tooOld(maxAge: number): AuthenticationError {
    return new AuthenticationError(
      'Sign in again to do this',
      `Bearer error="insufficient_user_authentication", max_age="${maxAge}"`,
    );
  }
}

/** 403 for a caller who lacks the route's role. */
export function roleMissing(): ForbiddenException {
  return new ForbiddenException('Your role does not allow this');
}

/** 403 for a caller who is neither the owner nor an administrator. */
export function notTheOwner(): ForbiddenException {
  return new ForbiddenException('This belongs to another user');
}

/** @throws {ForbiddenException} unless the caller is that user or an administrator */
export function requireSelfOrAdmin(caller: Caller, userId: number): void {
  if (caller.id !== userId && !isAdmin(caller)) throw notTheOwner();
}
