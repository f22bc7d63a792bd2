/** E.g. a network, or the id of a user. */
export type LineKey = string | number;

/** On whose behalf something waits, from the widest to the narrowest, e.g. a network and a user in it. */
export type LineKeys = LineKey[];

/**
 * A line in which keys take turns: the widest first, and within each of them the next narrower. Everything in one line has as
 * many keys.
 */
export class FairLine<T> {
  size = 0;
  /** Of each key what waits for it. The key whose turn is next comes first. */
  private readonly lines = new Map<LineKey, FairLine<T>>();
  /** Of who has no narrower key, in the order in which they came. */
  private readonly own: T[] = [];

  add(waiting: T, [key, ...narrower]: LineKeys): void {
    this.size++;
    if (key === undefined) return void this.own.push(waiting);
    let line = this.lines.get(key);
    if (!line) this.lines.set(key, (line = new FairLine()));
    line.add(waiting, narrower);
  }

  remove(waiting: T, [key, ...narrower]: LineKeys): void {
    this.size--;
    if (key === undefined) return void this.own.splice(this.own.lastIndexOf(waiting), 1);
    const line = this.lines.get(key)!;
    line.remove(waiting, narrower);
    if (line.size === 0) this.lines.delete(key);
  }

  /** Takes out what has its turn. @param may whether a widest key may have one; others have theirs before it */
  next(may: (key: LineKey) => boolean = () => true): T | undefined {
    for (const [key, line] of this.lines) if (may(key)) return this.turnOf(key, line);
    if (this.own.length > 0) this.size--;
    return this.own.shift();
  }

  /** The latest of the longest line, where a newcomer with these keys would not make its own as long. */
  latestOfLonger([key, ...narrower]: LineKeys): T | undefined {
    const own = this.lines.get(key);
    const longest = this.longest();
    if (longest && longest.size > sizeOf(own) + 1) return longest.latest();
    return own?.latestOfLonger(narrower);
  }

  /** Of each widest key, beside a newcomer's, that has more than the newcomer's: the latest. */
  *latestOfOthers([own]: LineKeys): Iterable<T> {
    const least = sizeOf(this.lines.get(own)) + 1;
    for (const line of this.lines.values()) if (line.size >= least) yield line.latest();
  }

  private turnOf(key: LineKey, line: FairLine<T>): T | undefined {
    this.size--;
    const next = line.next();
    this.lines.delete(key);
    if (line.size > 0) this.lines.set(key, line);
    return next;
  }

  private latest(): T {
    return this.longest()?.latest() ?? this.own.at(-1)!;
  }

  /** Of those that are as long the first. */
  private longest(): FairLine<T> | undefined {
    let longest: FairLine<T> | undefined;
    for (const line of this.lines.values()) if (line.size > sizeOf(longest)) longest = line;
    return longest;
  }
}

const sizeOf = (line: FairLine<unknown> | undefined): number => line?.size ?? 0;
