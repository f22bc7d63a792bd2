import type { PoolClient, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import type { Waiter } from './after-commit';
import { Frame, type Waiting } from './frame';
import { isControl, isSavepoint, mayWrite, nameOfStatement, setsLocally } from './statement-kinds';
import { explained, Refusal } from './transaction-refusals';

const DEFAULT_ISOLATION: IsolationLevel = 'READ COMMITTED';

/**
 * One transaction on one connection, in which many take part who believe to have one of their own. Their transactions are
 * savepoints, properly nested: what runs in the flow of a transaction belongs to it, and what runs beside it waits until it
 * has ended. A statement outside of any has a savepoint too, so that its failure is its own alone.
 */
export class SharedTransaction {
  readonly root = new Frame();
  private innermost = this.root;
  private readonly waiting: Waiting[] = [];
  private closing?: { resolve: () => void; reject: (error: Error) => void };
  private abandoned?: Error;
  private closed = false;
  private end: () => void;
  /** Resolves when it was committed, or rolled back. */
  readonly over = new Promise<void>((resolve) => (this.end = resolve));
  /** Why it must not be committed. */
  failure?: Error;

  /** @param isolation the level that all who take part get */
  constructor(
    readonly database: DataSource,
    private readonly client: PoolClient,
    private readonly currentFrame: () => Frame | undefined,
    readonly isolation = DEFAULT_ISOLATION,
  ) {
    this.root.begun = true;
  }

  /** Whether only those take part any more who are in the midst of it. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** Those who wait for the end of what the current flow is inside of, or of the whole. */
  get waiters(): Waiter[] {
    return this.placeOf(undefined).waiters;
  }

  /** A transaction of a query runner, which is yet to begin. @param last the runner's own that it is in the midst of */
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
    // Of one that the same flow has begun since and goes on with, the savepoint lies within that of this one.
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
      // If that failed, the connection is lost.
      this.leave(frame);
    }
  }

  /** Runs a statement of a query runner. @param last the runner's own transaction that it is in the midst of */
  async query(runner: object, last: Frame | undefined, text: string, values?: unknown[]): Promise<QueryResult> {
    if (isControl(text)) throw Refusal.control();
    return this.inTurn(this.placeOf(last), (frame) => {
      if (frame.owner !== runner) return this.runAlone(frame, text, values);
      frame.wrote ||= mayWrite(text);
      if (setsLocally(text)) return frame.settings.set(this.client, text, values);
      // It may take the mark away.
      if (isSavepoint(text)) frame.marked = false;
      return this.client.query(text, values);
    });
  }

  /** Resolves when all who take part have ended what they began; nobody begins anything from then on. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.closing = { resolve, reject };
      if (this.abandoned) this.abandon(this.abandoned);
      this.goOn();
    });
  }

  /** To be told when it was committed, or rolled back. */
  ended(): void {
    this.closed = true;
    this.end();
  }

  /** Nobody waits any longer: its connection is being ended. */
  abandon(reason: Error): void {
    this.abandoned = reason;
    this.closed = true;
    for (const { reject } of this.waiting.splice(0)) reject(Refusal.notEnded(reason));
    this.closing?.reject(Refusal.notEnded(reason));
  }

  /** What the current flow has begun last, or what the runner has, when the flow is in the midst of something else. */
  private placeOf(last: Frame | undefined): Frame {
    const place = (this.currentFrame() ?? this.root).place;
    return !last || place.isWithin(last) ? place : last;
  }

  private flowIsBelow(frame: Frame): boolean {
    const place = this.placeOf(undefined);
    return place !== frame && place.isWithin(frame);
  }

  private async finish(frame: Frame, text: string): Promise<void> {
    // Takes its place meanwhile, so that nothing comes in between.
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

  /** What may fail without the transaction. */
  private async runAlone(frame: Frame, text: string, values?: unknown[]): Promise<QueryResult> {
    const alone = (this.innermost = new Frame(frame));
    const mark = `mark_${frame.name}`;
    try {
      await this.client.query(frame.marked ? `RELEASE SAVEPOINT ${mark}; SAVEPOINT ${mark}` : `SAVEPOINT ${mark}`);
      frame.marked = true;
      const result = await this.client.query(text, values);
      if (frame !== this.root && mayWrite(text)) frame.strange ??= nameOfStatement(text);
      // It lasts no longer than the statement.
      if (setsLocally(text)) await this.client.query(`ROLLBACK TO SAVEPOINT ${mark}`);
      return result;
    } catch (error) {
      if (frame.marked) await this.client.query(`ROLLBACK TO SAVEPOINT ${mark}`).catch(() => undefined);
      throw error;
    } finally {
      this.leave(alone);
    }
  }

  /** Calls `act` with the frame, or with what it was nested in if it has ended, once nothing inside of that goes on. */
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
        // What was skipped may have its turn now.
        index = 0;
      }
    }
    if (!this.closing || this.innermost !== this.root) return;
    this.closed = true;
    this.closing.resolve();
  }
}
