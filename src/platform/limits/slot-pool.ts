/**
 * The set of objects that are in use, for objects that come and go with each request. It is not a Set: V8's Set starts
 * a new table every few dozen objects, and the old table with its objects points to the new one. Once one of these
 * tables is in the old generation, all later ones follow, and with them every request. docs/performance.md says what
 * that costs.
 */
export class SlotPool<T> implements Iterable<T> {
  private readonly slots: (T | undefined)[] = [];
  private readonly free: number[] = [];

  get size(): number {
    return this.slots.length - this.free.length;
  }

  /** Returns the slot of the object, for {@link clear}. */
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
