import type { Response } from 'express';
import { errorHandler } from './error-handler';
import { PIECE_BYTES, sendPieces, reserveMemory } from './unread-answers';

interface Ending {
  response: Response;
  body: string | Buffer;
}

let endings: Ending[] = [];

/**
 * Sends the bodies of one event-loop turn together, at its end: the client process is woken once per turn instead of
 * once per answer. That wake-up is the most expensive part of sending.
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

/**
 * Nest has finished the request, so nobody else would answer an error. It must not keep other answers from being sent.
 */
function send(response: Response, body: string | Buffer): void {
  try {
    // The time limit may have answered meanwhile.
    if (response.headersSent) return;
    if (body.length <= PIECE_BYTES || response.req.method === 'HEAD') return void response.end(body);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    reserveMemory(response, bytes.length);
    sendPieces(response, bytes);
  } catch (error) {
    errorHandler(error, response.req, response, () => undefined);
  }
}
