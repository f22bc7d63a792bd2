import { type Change, type ChangeEvent, type ChangeKind, changeOf, kindFor, readerOf } from './change-event';
import type { ChangesQuery, ChangesRead } from './changes';

/** The number of events that are kept, some hundred bytes each. */
const MAX_KEPT = 5_000;

/** An event with the changes that were made of it, which all listeners share. */
interface Kept {
  event: ChangeEvent;
  changes: Partial<Record<ChangeKind, Change>>;
}

/** The last events of the feed in memory, for all listeners of a process. */
export class RecentChanges {
  private kept: Kept[] = [];
  /** All events after this position are here. */
  private after: number;

  /** @param upTo the position up to which it knows all events. Every event until then counts as forgotten */
  constructor(public upTo: number) {
    this.after = upTo;
  }

  /** @param upTo the position after these events */
  add(events: ChangeEvent[], upTo: number): void {
    for (const event of events) this.kept.push({ event, changes: {} });
    this.upTo = upTo;
    const excess = this.kept.length - MAX_KEPT;
    if (excess <= 0) return;
    this.after = this.kept[excess - 1].event.id;
    this.kept.splice(0, excess);
  }

  /** What {@link Changes.readUpTo} reads from the database; undefined for a reader who is further behind than this memory. */
  read({ types, after, size, caller }: ChangesQuery): ChangesRead | undefined {
    if (after < this.after) return undefined;
    const reader = readerOf(caller);
    const changes: Change[] = [];
    for (let index = this.indexAfter(after); index < this.kept.length; index++) {
      const { event } = this.kept[index];
      const kind = kindFor(event, reader);
      if (kind === undefined || !types.some(({ name }) => name === event.resource)) continue;
      changes.push(this.changeAt(index, kind));
      if (changes.length === size) return { changes, next: event.id, more: event.id < this.upTo };
    }
    // A mark of another process may be ahead of what this one has read.
    return { changes, next: Math.max(after, this.upTo), more: false };
  }

  private changeAt(index: number, kind: ChangeKind): Change {
    const { event, changes } = this.kept[index];
    return (changes[kind] ??= changeOf(event, kind));
  }

  /** The index of the first event after a position, by bisection: most readers are near the end. */
  private indexAfter(position: number): number {
    let [low, high] = [0, this.kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.kept[middle].event.id <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
