import type { PoolClient, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import type { Waiter } from './after-commit';
import { Frame, type Waiting } from './frame';
import { runAlone } from './run-alone';
import { isControl, isRollbackTo, isSavepoint, mayWrite, setsLocally } from './statement-kinds';
import { explained, Refusal } from './transaction-refusals';

const DEFAULT_ISOLATION: IsolationLevel = 'READ COMMITTED';

/**
 * A transaction on one connection that several participants share, while each seems to have a transaction of its own.
 * Their transactions are properly nested savepoints: statements in the flow of a transaction belong to it, and
 * statements beside it wait until it has ended. A statement outside of any nested transaction has its own savepoint, so
 * that its failure affects nothing else.
 */
export class SharedTransaction {
  readonly root = new Frame();
  private innermost = this.root;
  private readonly waiting: Waiting[] = [];
  private closing?: { resolve: () => void; reject: (error: Error) => void };
  private abandoned?: Error;
  private closed = false;
  private end: () => void;
  /** Resolves when the transaction is committed or rolled back. */
  readonly over = new Promise<void>((resolve) => (this.end = resolve));
  /** The reason why it must not be committed. */
  failure?: Error;

  /** @param isolation the isolation level of all participants */
  constructor(
    readonly database: DataSource,
    private readonly client: PoolClient,
    private readonly currentFrame: () => Frame | undefined,
    readonly isolation = DEFAULT_ISOLATION,
  ) {
    Object.assign(this.root, { begun: true, takesAll: true });
  }

  /** True when no participant may begin anything new. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** The waiters for the end of the frame of the current flow, or of the whole transaction. */
  get waiters(): Waiter[] {
    return this.placeOf(undefined).waiters;
  }

  /** Makes a nested transaction, not yet begun. @param last the runner's own innermost transaction */
  newFrame(runner: object, last: Frame | undefined): Frame {
    return new Frame(this.placeOf(last), runner);
  }

  async begin(frame: Frame): Promise<void> {
    await this.inTurn(frame.parent!, (parent) => {
      frame.parent = parent;
      this.innermost = frame;
    });
    try {
      await this.client.query(`SAVEPOINT ${frame.name}`);
      frame.begun = true;
    } catch (error) {
      this.leave(frame);
      throw explained(error);
    }
  }

  async commit(frame: Frame): Promise<void> {
    if (frame.isNested) frame.settings.handTo(frame.parent!.orParent.settings);
    else await this.inTurn(frame, () => frame.settings.restore(this.client));
    // If the same flow has begun another transaction since and continues with it, that savepoint lies within this one.
    if (this.flowIsBelow(frame)) frame.open = false;
    else await this.finish(frame, `RELEASE SAVEPOINT ${frame.name}`);
    frame.joinParent();
  }

  async rollback(frame: Frame): Promise<void> {
    if (frame.strange) this.failure ??= Refusal.undone(frame);
    if (this.flowIsBelow(frame)) throw (this.failure = Refusal.interleaved());
    try {
      await this.finish(frame, `ROLLBACK TO SAVEPOINT ${frame.name}`);
    } finally {
      // If it failed, the connection is lost.
      this.leave(frame);
    }
  }

  /** Runs a runner's statement. @param last the runner's own innermost transaction */
  async query(runner: object, last: Frame | undefined, text: string, values?: unknown[]): Promise<QueryResult> {
    if (isControl(text)) throw Refusal.control();
    return this.inTurn(this.placeOf(last), (frame) => {
      if (frame.owner !== runner) return this.occupying(frame, () => runAlone(this.client, frame, text, values));
      frame.wrote ||= mayWrite(text);
      if (setsLocally(text)) return this.occupying(frame, () => frame.settings.set(this.client, text, values));
      if (frame.strange && isRollbackTo(text)) this.failure ??= Refusal.undone(frame);
      // The statement may release the mark's savepoint.
      if (isSavepoint(text)) frame.marked = false;
      return this.client.query(text, values);
    });
  }

  /** Resolves when all participants have ended. Nothing new may begin. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.closing = { resolve, reject };
      if (this.abandoned) this.abandon(this.abandoned);
      this.goOn();
    });
  }

  /** Called after the commit or rollback. */
  ended(): void {
    this.closed = true;
    this.end();
  }

  /** Called when nobody waits any longer and the connection is being ended. */
  abandon(reason: Error): void {
    this.abandoned = reason;
    this.closed = true;
    // Who waits for the end gets no connection any more: its unit is cancelled.
    this.end();
    for (const { reject } of this.waiting.splice(0)) reject(Refusal.notEnded(reason));
    this.closing?.reject(Refusal.notEnded(reason));
  }

  /** The frame of the current flow, or the runner's own if the flow isn't in it. */
  private placeOf(last: Frame | undefined): Frame {
    const place = (this.currentFrame() ?? this.root).place;
    return !last || place.isWithin(last) ? place : last;
  }

  private flowIsBelow(frame: Frame): boolean {
    const place = this.placeOf(undefined);
    return place !== frame && place.isWithin(frame);
  }

  private async finish(frame: Frame, text: string): Promise<void> {
    // Occupies the frame meanwhile, so that nothing else runs between.
    const ending = new Frame(frame);
    await this.inTurn(frame, () => (this.innermost = ending));
    try {
      await this.client.query(text);
      frame.open = false;
    } catch (error) {
      throw explained(error);
    } finally {
      this.leave(ending);
    }
  }

  /** Runs statements between which no other comes. */
  private async occupying<T>(frame: Frame, work: () => Promise<T>): Promise<T> {
    const alone = (this.innermost = new Frame(frame));
    try {
      return await work();
    } finally {
      this.leave(alone);
    }
  }

  /** Calls `act` when nothing runs inside the frame, or inside the one around it if the frame has ended. */
  private inTurn<T>(frame: Frame, act: (frame: Frame) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.abandoned) return reject(Refusal.notEnded(this.abandoned));
      this.waiting.push({ frame, reject, act: (turn) => resolve(new Promise((done) => done(act(turn)))) });
      this.goOn();
    });
  }

  private leave(frame: Frame): void {
    frame.open = false;
    this.innermost = this.innermost.orParent;
    this.goOn();
  }

  private goOn(): void {
    for (let index = 0; index < this.waiting.length;) {
      const { frame, act } = this.waiting[index];
      if (frame.orParent !== this.innermost) index++;
      else {
        this.waiting.splice(index, 1);
        act(this.innermost);
        // Actions that were skipped may have their turn now.
        index = 0;
      }
    }
    if (!this.closing || this.innermost !== this.root) return;
    this.closed = true;
    this.closing.resolve();
  }
}
