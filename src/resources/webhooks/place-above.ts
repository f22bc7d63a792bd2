import type { Request } from 'express';

/** The path of the resource for which a POST below it has done something, as the client has named it. */
export function placeAbove({ originalUrl }: Request): string {
  const [path] = originalUrl.split(/[?#]/, 1);
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(0, path.lastIndexOf('/', end - 1));
}
