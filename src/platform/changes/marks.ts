/** Marks that are kept while a writer runs on. */
const MAX_MARKS = 100;

/** All events up to `last`, which is committed, are of transactions whose number is less than `next`. */
export interface Mark {
  last: number;
  next: bigint;
  /** When it was noted, by the clock of `performance`. */
  at: number;
  /** The transactions that may have had an event when it was noted, or after it. Undefined until somebody asks. */
  writers?: string[];
}

/** What a process has noted of one server, and up to where all is settled. */
export class Marks {
  /** Undefined until something is noted. */
  server?: string;
  private marks: Mark[] = [];

  constructor(private upTo: number) {}

  /** The number up to which every event is committed, or never will be. */
  get settled(): number {
    return this.upTo;
  }

  /** The greatest number that was noted. */
  get known(): number {
    return Math.max(this.upTo, ...this.marks.map(({ last }) => last));
  }

  /** The one that waits for the longest time. */
  get first(): Mark | undefined {
    return this.marks[0];
  }

  get waiting(): readonly Mark[] {
    return [...this.marks];
  }

  add(mark: Mark): void {
    this.marks.push(mark);
    // Every other one, so that old and new ones remain.
    if (this.marks.length > MAX_MARKS) this.marks = this.marks.filter((_, index) => index % 2 === 0);
  }

  /** Settles some of those that wait. */
  settle(isSettled: (mark: Mark) => boolean, marks: readonly Mark[] = this.marks): void {
    for (const mark of marks) if (isSettled(mark)) this.upTo = Math.max(this.upTo, mark.last);
    this.marks = this.marks.filter(({ last }) => last > this.upTo);
  }
}
