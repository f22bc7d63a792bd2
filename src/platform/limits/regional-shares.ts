import { Tally } from './tally';

/** The number of past turns that count. */
const PAST = 1_000;

/** Counts for each region its waiting items and its recent turns in a queue. */
export class RegionalShares {
  private readonly shares = new Tally<string>();
  /** The regions of the last turns, as a ring buffer. */
  private readonly past: string[] = [];
  private next = 0;

  of(region: string): number {
    return this.shares.of(region);
  }

  /** An item of the region starts to wait. */
  take(region: string): void {
    this.shares.add(region, 1);
  }

  /** An item of the region leaves without a turn. */
  giveBack(region: string): void {
    this.shares.add(region, -1);
  }

  /** A waiting item gets its turn, which counts until PAST other turns have followed. */
  spend(region: string): void {
    if (this.next in this.past) this.giveBack(this.past[this.next]);
    this.past[this.next] = region;
    this.next = (this.next + 1) % PAST;
  }
}
