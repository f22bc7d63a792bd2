/** One attempt to send a request. */
export interface Attempt {
  /** When it had a connection, by the clock of `performance`. */
  at: number;
  /** How long it took from then on, in milliseconds. */
  ms: number;
  /** The status, or 0 for an answer that never came or broke off. */
  status: number;
  method: string;
}

/** One request with all of its attempts. */
export interface Done {
  /** When it was due, by the clock of `performance`. */
  due: number;
  /** Milliseconds from then to the last byte of the last answer. */
  ms: number;
  status: number;
  attempts: number;
}

const MAX_EXAMPLES = 10;

/** What contradicts what the service has acknowledged. */
export class Findings {
  readonly counts = { lost: 0, doubled: 0, wrong: 0, unanswered: 0 };
  readonly examples: string[] = [];

  add(kind: keyof Findings['counts'], what: string): void {
    this.counts[kind]++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push(`${kind}: ${what}`);
  }

  get isEmpty(): boolean {
    return Object.values(this.counts).every((count) => count === 0);
  }
}

/** True for an answer that says that the service, or what stands before it, failed. */
export const isFailure = (status: number): boolean => status === 0 || status >= 500;

/** Everything that a run has sent. */
export class Journal {
  readonly attempts: Attempt[] = [];
  readonly done: Done[] = [];
  readonly findings = new Findings();
  /** Requests that were due, and not sent as too many waited for their answers. */
  unsent = 0;

  /**
   * Milliseconds from a moment to the end of the first success that began after it; Infinity without one.
   * @param suits Default: any request
   */
  firstSuccessAfter(moment: number, suits: (attempt: Attempt) => boolean = () => true): number {
    const isSuccess = ({ at, status }: Attempt) => at >= moment && status >= 200 && status < 300;
    const successes = this.attempts.filter((one) => isSuccess(one) && suits(one));
    return successes.reduce((first, { at, ms }) => Math.min(first, at + ms - moment), Infinity);
  }
}
