import type { Request } from 'express';

/**
 * Calls `tell` when no more of a request's body arrives or is needed: the body is complete, the client has gone, or the
 * request was answered, e.g. by its time limit. (Node emits no event on the request for an answer.) `tell` may be
 * called at once, and more than once.
 */
export function onBodyEnd(request: Request, tell: () => void): void {
  for (const event of ['end', 'error', 'close']) request.once(event, tell);
  request.res!.once('close', tell);
  // Node doesn't repeat events that were emitted before the listeners were added.
  if (isOver(request)) tell();
}

function isOver({ destroyed, readableEnded, res }: Request): boolean {
  return destroyed || readableEnded || res!.writableEnded || res!.closed || res!.destroyed;
}
