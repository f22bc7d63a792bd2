import { Frame } from './frame';
import { Refusal } from './transaction-refusals';

/** An action that waits for its turn in a frame. */
interface Waiting {
  frame: Frame;
  /** Whose statement or beginning it is. Undefined for an end, which is that of this frame alone. */
  runner?: object;
  /** The innermost frame that had begun when it came. What has begun since is beside it: whether that is undone isn't known to it. */
  since: Frame;
  act: (frame: Frame) => void;
  reject: (error: Error) => void;
}

/**
 * Who comes when in a transaction that several participants share. Savepoints are a stack, so only what belongs to the
 * innermost one goes on.
 */
export class Turns {
  /** True when no participant may begin anything new. */
  isClosed = false;
  innermost: Frame;
  private readonly waiting: Waiting[] = [];
  private closing?: { resolve: () => void; reject: (error: Error) => void };
  private abandoned?: Error;

  constructor(private readonly root: Frame) {
    this.innermost = root;
  }

  /**
   * Calls `act` when nothing runs inside the frame, or inside the one around it if the frame has ended.
   * @param runner whose statement or beginning it is: it belongs to what the runner has begun there by hand
   */
  take<T>(frame: Frame, act: (frame: Frame) => T | Promise<T>, runner?: object): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.abandoned) return reject(Refusal.notEnded(this.abandoned));
      const since = this.innermost.place;
      this.waiting.push({
        frame,
        runner,
        since,
        reject,
        act: (turn) => resolve(new Promise((done) => done(act(turn)))),
      });
      this.goOn();
    });
  }

  /** Runs statements between which no other comes. */
  async occupying<T>(frame: Frame, work: () => Promise<T>): Promise<T> {
    const alone = (this.innermost = new Frame(frame));
    try {
      return await work();
    } finally {
      this.leave(alone);
    }
  }

  leave(frame: Frame): void {
    frame.open = false;
    this.innermost = this.innermost.orParent;
    this.goOn();
  }

  /** Resolves when all participants have ended. Nothing new may begin. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.closing = { resolve, reject };
      if (this.abandoned) this.abandon(this.abandoned);
      this.goOn();
    });
  }

  /** Refuses who waits, and who comes later. */
  abandon(reason: Error): void {
    this.abandoned = reason;
    this.isClosed = true;
    for (const { reject } of this.waiting.splice(0)) reject(Refusal.notEnded(reason));
    this.closing?.reject(Refusal.notEnded(reason));
  }

  private mayAct({ frame, runner, since }: Waiting): boolean {
    const place = frame.orParent;
    return this.innermost === place || (since.isWithin(this.innermost) && this.innermost.takesFrom(place, runner));
  }

  private goOn(): void {
    for (let index = 0; index < this.waiting.length;) {
      const { act } = this.waiting[index];
      if (!this.mayAct(this.waiting[index])) index++;
      else {
        this.waiting.splice(index, 1);
        act(this.innermost);
        // Actions that were skipped may have their turn now.
        index = 0;
      }
    }
    if (!this.closing || this.innermost !== this.root) return;
    this.isClosed = true;
    this.closing.resolve();
  }
}
