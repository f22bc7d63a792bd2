import type { IncomingMessage } from 'node:http';

const HEADER = 'authorization';
/** RFC 6750, 2.1: the scheme, whatever its case, one or more blanks, the token, and nothing more. */
const CREDENTIALS = /^bearer +([\w.~+/-]+=*)$/i;

/** The token of a request; undefined when its `Authorization` is anything else, or there are several. */
export function bearerTokenOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || isRepeated(request)) return undefined;
  return CREDENTIALS.exec(authorization)?.[1];
}

/** Node keeps the first one only, and another program on the way may believe another. */
export function isRepeated({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name.length === HEADER.length && name.toLowerCase() === HEADER) count++;
  }
  return count > 1;
}
