import { type KeyObject, sign } from 'node:crypto';

/**
 * A correctly signed token (RS256) of any claims.
 * @param claims the claims or their JSON
 * @param more what its header has beside the usual
 */
export function signedToken(
  claims: object | string,
  { kid, key }: { kid: string; key: KeyObject },
  more: object = {},
): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const header = encode(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid, ...more }));
  const content = `${header}.${encode(typeof claims === 'string' ? claims : JSON.stringify(claims))}`;
  return `${content}.${sign('RSA-SHA256', Buffer.from(content), key).toString('base64url')}`;
}
