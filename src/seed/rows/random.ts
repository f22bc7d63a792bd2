/**
 * Random numbers for one row. They depend on the seed, the resource and the row's position only, so any row can be
 * generated again at any time, and none must be kept.
 */
export class Random {
  private state: number;

  constructor(seed: number, kind: number, place: number) {
    this.state = mix(mix(mix(seed + 1) + kind + 1) + place + 1);
  }

  /** From 0 up to but excluding 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 up to but excluding the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** The number of consecutive successes at a constant probability. */
  repeats(probability: number, most: number): number {
    let times = 0;
    while (times < most && this.chance(probability)) times++;
    return times;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** One of the names, with a probability proportional to its share. */
  weighted<T extends string>(shares: Partial<Record<T, number>>): T {
    const entries = Object.entries(shares) as [T, number][];
    let rest = this.next() * entries.reduce((sum, [, share]) => sum + share, 0);
    return (entries.find(([, share]) => (rest -= share) < 0) ?? entries[0])[0];
  }
}

/** Spreads adjacent numbers over all 32 bits (the finaliser of MurmurHash3). */
function mix(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
