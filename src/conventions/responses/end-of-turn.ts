import type { Response } from 'express';

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
  for (const { response, text } of all) {
    // The time-out may have answered meanwhile.
    if (!response.headersSent) response.end(text);
  }
}
