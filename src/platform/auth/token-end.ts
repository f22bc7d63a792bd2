import type { Request } from 'express';
import { decode } from 'jsonwebtoken';
import { MS_PER_SECOND } from '../units';
import { bearerTokenOf } from './bearer-token';

/**
 * When the access token of a request expires, in milliseconds since 1970. Undefined for other credentials. The guard has
 * verified the token.
 */
export function tokenEnd(request: Request): number | undefined {
  const token = bearerTokenOf(request);
  const claims = token === undefined ? null : decode(token);
  if (claims === null || typeof claims === 'string' || claims.exp === undefined) return undefined;
  return claims.exp * MS_PER_SECOND;
}
