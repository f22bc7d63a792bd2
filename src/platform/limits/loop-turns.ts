import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** How long one thing is worked on before others get their turn, in milliseconds. */
const TURN = 10;

/** Splits up long work on the event loop: between two pieces all else of the process gets its turn. */
export class LoopTurns {
  private ends = 0;

  /** Whether the work should give way now: {@link next} resolves after the others. */
  get isOver(): boolean {
    return performance.now() > this.ends;
  }

  async next(): Promise<void> {
    await turnOfTheLoop();
    this.ends = performance.now() + TURN;
  }
}
