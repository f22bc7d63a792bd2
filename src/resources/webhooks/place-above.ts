import type { Request } from 'express';
import { pathsOf } from '../../platform/features';

/** The path of the resource for which a POST below it has done something, as the client has named it. */
export function placeAbove(request: Request): string {
  const { asSent } = pathsOf(request);
  const end = asSent.endsWith('/') ? asSent.length - 1 : asSent.length;
  return asSent.slice(0, asSent.lastIndexOf('/', end - 1));
}
