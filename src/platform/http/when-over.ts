import type { Request } from 'express';

/**
 * Tells when nothing more of a request's body comes, or is wanted: it is whole, its client has gone, or the request was answered
 * meanwhile, e.g. by its time limit. Of the last Node tells the request nothing. It may tell at once, and more than once.
 */
export function whenOver(request: Request, tell: () => void): void {
  for (const event of ['end', 'error', 'close']) request.once(event, tell);
  request.res!.once('close', tell);
  // Node doesn't tell again what it told before anybody listened.
  if (isOver(request)) tell();
}

function isOver({ destroyed, readableEnded, res }: Request): boolean {
  return destroyed || readableEnded || res!.writableEnded || res!.closed || res!.destroyed;
}
