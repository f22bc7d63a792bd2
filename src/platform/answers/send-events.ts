import type { Response } from 'express';
import { endsByItself } from '../errors/error-response';
import { EVENT_STREAM } from '../http/event-stream';
import { toJson } from '../http/json';
import { leavePlace } from './page-place';

/** An event, as a line of each of its fields (HTML, 9.2.5). */
export interface ServerSentEvent {
  id: string;
  /** Its kind. */
  event: string;
  data: object;
}

/** The text of an event. JSON has no line breaks, which would end the field. */
export const eventText = ({ id, event, data }: ServerSentEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${toJson(data)}\n\n`;

/** Where the events of one answer are written. */
export class EventSink {
  constructor(private readonly response: Response) {}

  /** @returns false if the client has not read what was written before: the writer waits for {@link drained} */
  write(text: string): boolean {
    const { response } = this;
    if (response.writableEnded || response.closed) return true;
    leavePlace(response);
    return response.write(text);
  }

  /** Whether the client has read all that was written. */
  get isRead(): boolean {
    return this.response.writableLength === 0;
  }

  /** Resolves when the client has read what was written. Never, when it goes away. */
  drained(): Promise<void> {
    return new Promise((resolve) => this.response.once('drain', resolve));
  }

  /** Ends the answer between two events. The client comes back, with the id of the last one. */
  end(): void {
    // The source of the stream may be about to write.
    this.response.on('error', () => undefined);
    this.response.end();
  }
}

/** The value of a handler that answers with Server-Sent Events. The time limit of requests doesn't end it while its client reads. */
export class EventStream {
  /** @param begin called when the headers were sent. Writes until the answer is closed */
  constructor(readonly begin: (sink: EventSink) => void) {}
}

/** Begins an answer of events. */
export function sendEvents(response: Response, stream: EventStream): void {
  response.setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
  response.setHeader('Cache-Control', 'no-store');
  // nginx would collect the events otherwise.
  response.setHeader('X-Accel-Buffering', 'no');
  if (response.req.method === 'HEAD') return void response.end();
  endsByItself(response);
  response.flushHeaders();
  if (!response.closed) stream.begin(new EventSink(response));
}
