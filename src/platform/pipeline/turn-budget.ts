/** Milliseconds: as long as work begins in one turn of the event loop. Later work waits for the next turn. */
const TURN = 20;
/** The requests that begin in one turn, at most and at least. */
const MOST = 100;
const LEAST = 10;

/** How many requests may begin in a turn of the event loop, by what those of the last turns have cost. */
export class TurnBudget {
  /** Requests that have begun in this turn, and when the first of them began. */
  begun = 0;
  private since = 0;
  private most = MOST;

  get isLeft(): boolean {
    return this.begun < this.most && (this.begun < LEAST || performance.now() - this.since < TURN);
  }

  spend(): void {
    if (this.begun++ === 0) this.since = performance.now();
  }

  /** Begins the next turn. Most of a request's work follows when it has begun, so what a turn takes is known at its end. */
  renew(): void {
    if (this.begun >= LEAST) {
      const affordable = (this.begun * TURN) / (performance.now() - this.since);
      this.most = Math.max(LEAST, Math.min(MOST, (this.most + affordable) / 2));
    }
    this.begun = 0;
  }
}
