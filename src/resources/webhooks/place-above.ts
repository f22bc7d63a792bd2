import type { Request } from 'express';

/** An absolute target has the host that the client names, which is not to be repeated. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** The path of the resource for which a POST below it has done something, as the client has named it. */
export function placeAbove({ originalUrl }: Request): string {
  const [path] = originalUrl.replace(ORIGIN, '').split(/[?#]/, 1);
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(0, path.lastIndexOf('/', end - 1));
}
