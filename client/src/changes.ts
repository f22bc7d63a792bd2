import type { UntypedAnswer, UntypedInit } from './call.js';
import { pause } from './repetition.js';

export interface ChangesOptions<Type = string> extends Pick<UntypedInit, 'signal' | 'timeout' | 'headers'> {
  /** The mark to go on from. Default: `now`, which is after all changes so far */
  from?: string;
  /** Only changes of these types, such as `['products']`. Default: all types that the caller may read */
  types?: readonly Type[];
  /** Adds the resource to each change as it is now, which may be newer. Null if it is deleted or hidden. */
  include?: 'resource';
  /** Whether to wait for further changes at the end. Default: true */
  follow?: boolean;
  /** Milliseconds between two reads that find nothing, unless the service itself waits for a change. Default: 5,000 */
  interval?: number;
  /** Changes of one page at most. Default: 100 */
  size?: number;
}

/** Some changes in their order, or none yet. */
export interface ChangesPage<Change> {
  changes: Change[];
  /** The mark after these changes. Keep it, even without a change: an old mark is refused. */
  mark: string;
}

/** The feed as pages, or change by change. */
export interface Changes<Change> extends AsyncIterable<Change & Marked> {
  pages(): AsyncGenerator<ChangesPage<Change>, void>;
}

export interface Marked {
  /** Where to go on once this change is done. It repeats some changes before, and misses none. */
  mark: string;
}

interface Content {
  changes: object[];
  next: string;
  more: boolean;
}

/** Seconds that the service waits for a change, where it can. */
const WAIT = 30;
const INTERVAL = 5_000;

/** Reads `GET /changes` again and again. */
export class UntypedChanges implements Changes<object> {
  /**
   * @param waits whether the service has the parameter `wait`
   * @param patience milliseconds that an attempt may take besides that
   */
  constructor(
    private readonly call: (method: string, path: string, init: UntypedInit) => Promise<UntypedAnswer>,
    private readonly options: ChangesOptions,
    private readonly waits: boolean,
    private readonly patience: number,
  ) {}

  /** A page has one mark at its end, so all changes but the last have that of the page before. */
  async *[Symbol.asyncIterator](): AsyncGenerator<object & Marked, void> {
    let before = this.options.from!;
    for await (const { changes, mark } of this.pages()) {
      const last = changes.length - 1;
      for (const [index, change] of changes.entries()) yield { ...change, mark: index === last ? mark : before };
      before = mark;
    }
  }

  async *pages(): AsyncGenerator<ChangesPage<object>, void> {
    const { from = 'now', follow = true, interval = INTERVAL, signal } = this.options;
    for (let cursor = from; ;) {
      const begin = Date.now();
      const isFirst = cursor === 'now';
      const { changes, next, more } = await this.read(cursor, follow && this.waits && !isFirst);
      cursor = next;
      yield { changes, mark: next };
      if (more) continue;
      if (!follow) return;
      const isDue = this.waits && (isFirst || changes.length > 0);
      if (!isDue) await pause(interval - (Date.now() - begin), signal);
    }
  }

  private async read(cursor: string, waits: boolean): Promise<Content> {
    const { types, include, size, signal, headers, timeout = this.patience } = this.options;
    const query = { cursor, types, include, size, wait: waits ? WAIT : undefined };
    const limit = waits ? timeout + WAIT * 1000 : timeout;
    const { data } = await this.call('GET', '/changes', { params: { query }, signal, headers, timeout: limit });
    return data as Content;
  }
}
