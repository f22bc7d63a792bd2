/**
 * What is under way, for objects that come and go with each request. Not a Set: V8's begins a new table after each few dozen
 * objects, and leaves the old one, with what was in it, pointing to the new one. As soon as one of these tables is in the
 * old generation all later ones follow, and with them every request: docs/performance.md says what that costs.
 */
export class SlotPool<T> implements Iterable<T> {
  private readonly slots: (T | undefined)[] = [];
  private readonly free: number[] = [];

  /** Returns where it is, for {@link clear}. */
  take(object: T): number {
    const slot = this.free.pop() ?? this.slots.length;
    this.slots[slot] = object;
    return slot;
  }

  clear(slot: number): void {
    this.slots[slot] = undefined;
    this.free.push(slot);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const object of this.slots) if (object !== undefined) yield object;
  }
}
