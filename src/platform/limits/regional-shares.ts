import { Tally } from './tally';

/** How many turns of the past count. */
const PAST = 1_000;

/** What each region has of a line: places in it, and turns that it had of late. */
export class RegionalShares {
  private readonly shares = new Tally<string>();
  /** Whose the last turns were, as a ring. */
  private readonly past: string[] = [];
  private next = 0;

  of(region: string): number {
    return this.shares.of(region);
  }

  /** A place is taken. */
  take(region: string): void {
    this.shares.add(region, 1);
  }

  /** A place is left without a turn. */
  giveBack(region: string): void {
    this.shares.add(region, -1);
  }

  /** A place became a turn, which counts until so many others have had theirs. */
  spend(region: string): void {
    if (this.next in this.past) this.giveBack(this.past[this.next]);
    this.past[this.next] = region;
    this.next = (this.next + 1) % PAST;
  }
}
