import type { Request } from 'express';
import {
  type Caller,
  type Change,
  type ChangedType,
  type ChangeListeners,
  type Changes,
  type ChangesRead,
  type EventSink,
  eventText,
  type Following,
  seconds,
} from '../../platform';
import { MAX_CHANGES } from './change.dto';
import { changeOf } from './change-of';
import { markText } from './mark';

/** How long a stream says nothing at most, in milliseconds. Proxies end connections on which nothing comes. */
const SILENCE = seconds(15);
/** When a client should come back, in milliseconds. */
const RETRY = seconds(2);
/** The changes that are read at once with their resources. */
const MAX_WITH_RESOURCES = 10;

/** What a stream is asked for. */
export interface StreamQuery {
  types: ChangedType[];
  /** The position of the last change that the client knows. */
  after: number;
  caller: Caller;
  /** Whether each change has its resource. */
  includes: boolean;
}

/** The texts of events without resources: all listeners are sent the same. */
const texts = new WeakMap<Change, string>();

/** The feed as a stream of events, for one request. The id of an event is the mark after it. */
export class ChangeStream implements Following {
  private position = 0;
  private sentAt = 0;
  private types: ChangedType[] = [];
  private includes = false;

  constructor(
    private readonly changes: Changes,
    private readonly listeners: ChangeListeners,
    private readonly request: Request,
    private readonly sink: EventSink,
  ) {}

  begin({ types, after, caller, includes }: StreamQuery): void {
    [this.types, this.includes, this.position] = [types, includes, after];
    const size = includes ? MAX_WITH_RESOURCES : MAX_CHANGES;
    // The mark first: who loses the connection before the first change knows where to go on.
    this.write(`retry: ${RETRY}\n${this.mark}`);
    this.listeners.follow(this.request, { types, after, size, caller }, this);
  }

  take(found: ChangesRead): Promise<void> | void {
    const { user } = this.request;
    const isFindable = found.changes.length > 0 && user ? this.listeners.beforeTelling(user) : undefined;
    return isFindable ? isFindable.then(() => this.tell(found)) : this.tell(found);
  }

  private tell({ changes, next }: ChangesRead): Promise<void> | void {
    if (this.includes && changes.length > 0) return this.takeWithResources(changes, next);
    let isRead = true;
    for (const change of changes) isRead = this.write(textFor(change));
    this.position = next;
    return isRead ? undefined : this.sink.drained();
  }

  /** The mark moves on with changes that this caller may not see: it must not expire while its reader is here. */
  tick(now: number): void {
    if (now - this.sentAt >= SILENCE && this.sink.isRead) this.write(`: nothing new\n${this.mark}`);
  }

  over(): void {
    this.sink.end();
  }

  private async takeWithResources(changes: Change[], next: number): Promise<void> {
    for (let rest = changes; rest.length > 0;) {
      const some = rest;
      this.request.readsSince = performance.now();
      const read = () => this.changes.resourcesOf(some, this.types, this.request);
      const { resources, complete } = await this.listeners.inTurn(this.request, read);
      this.request.readsSince = Infinity;
      for (const change of some.slice(0, complete)) {
        if (!this.write(textOf(change, resources.get(change) ?? null))) await this.sink.drained();
      }
      rest = some.slice(complete);
    }
    this.position = next;
  }

  private get mark(): string {
    return `id: ${markText({ position: this.position, at: Date.now() })}\n\n`;
  }

  private write(text: string): boolean {
    this.sentAt = performance.now();
    return this.sink.write(text);
  }
}

function textFor(change: Change): string {
  let text = texts.get(change);
  if (text === undefined) texts.set(change, (text = textOf(change)));
  return text;
}

const textOf = (change: Change, resource?: object | null): string =>
  eventText({
    id: markText({ position: change.position, at: Date.now() }),
    event: 'change',
    data: changeOf(change, resource),
  });
