import type { Response } from 'express';
import { errorHandler } from './error-handler';
import { PIECE, sendPieces, takeRoom } from './unread';

interface Ending {
  response: Response;
  body: string | Buffer;
}

let endings: Ending[] = [];

/**
 * Sends bodies at the end of the turn of the event loop, those of all its requests one right after the other. Who reads them
 * is then woken once and not for each, and waking somebody takes the system longer than all the rest of sending.
 */
export function endWith(response: Response, body: string | Buffer): void {
  if (endings.length === 0) setImmediate(sendAll);
  endings.push({ response, body });
}

function sendAll(): void {
  const all = endings;
  endings = [];
  for (const { response, body } of all) send(response, body);
}

/** Nest is done with the request: what fails here is nobody else's to answer, and must not keep the others from theirs. */
function send(response: Response, body: string | Buffer): void {
  try {
    // The time-out may have answered meanwhile.
    if (response.headersSent) return;
    if (body.length <= PIECE || response.req.method === 'HEAD') return void response.end(body);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    takeRoom(response, bytes.length);
    sendPieces(response, bytes);
  } catch (error) {
    errorHandler(error, response.req, response, () => undefined);
  }
}
