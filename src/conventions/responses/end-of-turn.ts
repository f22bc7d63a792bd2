import type { Response } from 'express';
import { errorHandler } from '../errors/error.filter';

interface Ending {
  response: Response;
  text: string;
}

let endings: Ending[] = [];

/**
 * Sends bodies at the end of the turn of the event loop, those of all its requests one right after the other. Who reads them
 * is then woken once and not for each, and waking somebody takes the system longer than all the rest of sending.
 */
export function endWith(response: Response, text: string): void {
  if (endings.length === 0) setImmediate(sendAll);
  endings.push({ response, text });
}

function sendAll(): void {
  const all = endings;
  endings = [];
  for (const { response, text } of all) send(response, text);
}

/** Nest is done with the request: what fails here is nobody else's to answer, and must not keep the others from theirs. */
function send(response: Response, text: string): void {
  try {
    // The time-out may have answered meanwhile.
    if (!response.headersSent) response.end(text);
  } catch (error) {
    errorHandler(error, response.req, response, () => undefined);
  }
}
