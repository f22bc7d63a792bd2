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
  private readonly queues = new Map<QueueKey, FairQueue<T>>();
  /** Items without a narrower key, in the order of their arrival. */
  private readonly own: T[] = [];

  add(waiting: T, [key, ...narrower]: QueueKeys): void {
    this.size++;
    if (key === undefined) return void this.own.push(waiting);
    let queue = this.queues.get(key);
    if (!queue) this.queues.set(key, (queue = new FairQueue()));
    queue.add(waiting, narrower);
  }

  remove(waiting: T, [key, ...narrower]: QueueKeys): void {
    this.size--;
    if (key === undefined) return void this.own.splice(this.own.lastIndexOf(waiting), 1);
    const queue = this.queues.get(key)!;
    queue.remove(waiting, narrower);
    if (queue.size === 0) this.queues.delete(key);
  }

  /**
   * Removes and returns the next item. @param may whether an item of these keys may have a turn now; others are skipped
   * @param wider the keys of this queue
   */
  next(may: (keys: QueueKeys) => boolean = anybody, wider: QueueKeys = []): T | undefined {
    for (const [key, queue] of this.queues) {
      const next = queue.next(may, [...wider, key]);
      if (next !== undefined) return this.hadTurn(key, queue, next);
    }
    if (this.own.length === 0 || !may(wider)) return undefined;
    this.size--;
    return this.own.shift();
  }

  /** The latest item of the longest queue, if the newcomer's own queue stays shorter than it. Undefined otherwise. */
  latestOfLonger([key, ...narrower]: QueueKeys): T | undefined {
    const own = this.queues.get(key);
    const longest = this.longest();
    if (longest && longest.size > sizeOf(own) + 1) return longest.latest();
    return own?.latestOfLonger(narrower);
  }

  /** The latest item of each other widest key that has more items than the newcomer's key. */
  *latestOfOthers([own]: QueueKeys): Iterable<T> {
    const least = sizeOf(this.queues.get(own)) + 1;
    for (const queue of this.queues.values()) if (queue.size >= least) yield queue.latest();
  }

  private hadTurn(key: QueueKey, queue: FairQueue<T>, next: T): T {
    this.size--;
    this.queues.delete(key);
    if (queue.size > 0) this.queues.set(key, queue);
    return next;
  }

  private latest(): T {
    return this.longest()?.latest() ?? this.own.at(-1)!;
  }

  /** The longest queue; among equally long ones the first. */
  private longest(): FairQueue<T> | undefined {
    let longest: FairQueue<T> | undefined;
    for (const queue of this.queues.values()) if (queue.size > sizeOf(longest)) longest = queue;
    return longest;
  }
}

const anybody = (): boolean => true;

const sizeOf = (queue: FairQueue<unknown> | undefined): number => queue?.size ?? 0;
