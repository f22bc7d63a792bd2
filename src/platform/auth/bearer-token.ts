import type { IncomingMessage } from 'node:http';

const HEADER = 'authorization';
/** RFC 6750, 2.1: the scheme in any case, one or more blanks, the token, and nothing after it. */
const CREDENTIALS = /^bearer +([\w.~+/-]+=*)$/i;

/** The bearer token of a request. Undefined if `Authorization` has another form or is sent more than once. */
export function bearerTokenOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || isRepeated(request)) return undefined;
  return CREDENTIALS.exec(authorization)?.[1];
}

/** True if `Authorization` is sent more than once. Node keeps the first one, a proxy may have checked another one. */
export function isRepeated({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) count++;
  }
  return count > 1;
}
