import { waitFor } from '../../src/platform/testing';

export interface ReadEvent {
  id?: string;
  event?: string;
  data?: unknown;
}

/** A client of Server-Sent Events, which notes what it reads. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  /** The id of the last event, with which the client comes back. */
  lastId?: string;
  hasEnded = false;
  /** Everything that has come. */
  text = '';
  private rest = '';

  private constructor(
    readonly answer: Response,
    private readonly abort: AbortController,
  ) {}

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    const answer = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal: abort.signal });
    const reader = new EventReader(answer, abort);
    void reader.read().catch(() => undefined);
    return reader;
  }

  /** The data of the changes so far. */
  get data(): unknown[] {
    return this.events.filter(({ event }) => event === 'change').map(({ data }) => data);
  }

  /** Waits for changes. */
  async until(count: number): Promise<unknown[]> {
    await waitFor(() => this.data.length >= count);
    return this.data;
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    try {
      const decoder = new TextDecoder();
      for await (const bytes of this.answer.body as unknown as AsyncIterable<Uint8Array>) {
        this.take(decoder.decode(bytes, { stream: true }));
      }
    } finally {
      this.hasEnded = true;
    }
  }

  private take(text: string): void {
    this.text += text;
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop()!;
    for (const block of blocks) this.add(block);
  }

  private add(block: string): void {
    const event: ReadEvent = {};
    for (const line of block.split('\n')) {
      const [, name, value] = /^(id|event|data): (.*)$/.exec(line) ?? [];
      if (name === 'data') event.data = JSON.parse(value);
      else if (name) event[name as 'id' | 'event'] = value;
    }
    if (event.id !== undefined) this.lastId = event.id;
    if (Object.keys(event).length > 0) this.events.push(event);
  }
}
