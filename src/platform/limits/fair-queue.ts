/** E.g. a network, or a user's id. */
export type QueueKey = string | number;

/** The keys of a waiting item, from the widest to the narrowest, e.g. a network and a user in it. */
export type QueueKeys = QueueKey[];

/**
 * A queue in which keys take turns: the widest keys first, and within each of them the next narrower ones. All items of
 * a queue have the same number of keys.
 */
export class FairQueue<T> {
  size = 0;
  /** The queue of each key. The key whose turn is next comes first. */
  private readonly lines = new Map<QueueKey, FairQueue<T>>();
  /** Items without a narrower key, in the order of their arrival. */
  private readonly own: T[] = [];

  add(waiting: T, [key, ...narrower]: QueueKeys): void {
    this.size++;
    if (key === undefined) return void this.own.push(waiting);
    let line = this.lines.get(key);
    if (!line) this.lines.set(key, (line = new FairQueue()));
    line.add(waiting, narrower);
  }

  remove(waiting: T, [key, ...narrower]: QueueKeys): void {
    this.size--;
    if (key === undefined) return void this.own.splice(this.own.lastIndexOf(waiting), 1);
    const line = this.lines.get(key)!;
    line.remove(waiting, narrower);
    if (line.size === 0) this.lines.delete(key);
  }

  /**
   * Removes and returns the next item. @param may whether a widest key may have a turn now; keys that may not are
   * skipped
   */
  next(may: (key: QueueKey) => boolean = () => true): T | undefined {
    for (const [key, line] of this.lines) if (may(key)) return this.turnOf(key, line);
    if (this.own.length > 0) this.size--;
    return this.own.shift();
  }

  /** The latest item of the longest queue, if the newcomer's own queue stays shorter than it. Undefined otherwise. */
  latestOfLonger([key, ...narrower]: QueueKeys): T | undefined {
    const own = this.lines.get(key);
    const longest = this.longest();
    if (longest && longest.size > sizeOf(own) + 1) return longest.latest();
    return own?.latestOfLonger(narrower);
  }

  /** The latest item of each other widest key that has more items than the newcomer's key. */
  *latestOfOthers([own]: QueueKeys): Iterable<T> {
    const least = sizeOf(this.lines.get(own)) + 1;
    for (const line of this.lines.values()) if (line.size >= least) yield line.latest();
  }

  private turnOf(key: QueueKey, line: FairQueue<T>): T | undefined {
    this.size--;
    const next = line.next();
    this.lines.delete(key);
    if (line.size > 0) this.lines.set(key, line);
    return next;
  }

  private latest(): T {
    return this.longest()?.latest() ?? this.own.at(-1)!;
  }

  /** The longest queue; among equally long ones the first. */
  private longest(): FairQueue<T> | undefined {
    let longest: FairQueue<T> | undefined;
    for (const line of this.lines.values()) if (line.size > sizeOf(longest)) longest = line;
    return longest;
  }
}

const sizeOf = (line: FairQueue<unknown> | undefined): number => line?.size ?? 0;
