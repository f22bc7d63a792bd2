import type { ServerResponse } from 'node:http';

/** Of server-sent events. */
const EVENT_STREAM = 'text/event-stream';

/** Whether an answer has begun that ends only when its handler or its client ends it. */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent || response.writableEnded) return false;
  return String(response.getHeader('Content-Type')).startsWith(EVENT_STREAM);
}
