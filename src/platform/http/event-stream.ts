import type { ServerResponse } from 'node:http';

/** The media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream';

/** True if an event stream was started. It only ends when its handler or its client ends it. */
export function isEventStream(response: ServerResponse): boolean {
  return !response.writableEnded && hasEvents(response);
}

/** True if the answer is an event stream, also one that has ended. */
export function hasEvents(response: ServerResponse): boolean {
  return response.headersSent && String(response.getHeader('Content-Type')).startsWith(EVENT_STREAM);
}
