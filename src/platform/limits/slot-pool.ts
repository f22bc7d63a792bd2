/**
 * What is under way, for objects that come and go with each request. Not a Set: V8's begins a new table after each few dozen
 * objects, and leaves the old one, with what was in it, pointing to the new one. As soon as one of these tables is in the
 * old generation all later ones follow, and with them every request: docs/performance.md says what that costs.
 */
export class Places<T> implements Iterable<T> {
  private readonly places: (T | undefined)[] = [];
  private readonly free: number[] = [];

  /** Returns where it is, for {@link clear}. */
  take(object: T): number {
    const place = this.free.pop() ?? this.places.length;
    this.places[place] = object;
    return place;
  }

  clear(place: number): void {
    this.places[place] = undefined;
    this.free.push(place);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const object of this.places) if (object !== undefined) yield object;
  }
}
