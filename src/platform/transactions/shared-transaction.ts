import type { PoolClient, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import type { Outcome, Waiter } from './after-commit';
import { Frame } from './frame';
import { runAlone } from './run-alone';
import {
  isControl,
  isRollbackTo,
  isSavepoint,
  leavesMore,
  mayWrite,
  nameOfStatement,
  setsLocally,
} from './statement-kinds';
import { explained, Refusal } from './transaction-refusals';
import { Turns } from './turns';

const DEFAULT_ISOLATION: IsolationLevel = 'READ COMMITTED';

/**
 * A transaction on one connection that several participants share, while each seems to have a transaction of its own.
 * Their transactions are properly nested savepoints: statements in the flow of a transaction belong to it, and
 * statements beside it wait until it has ended. A statement outside of any nested transaction has its own savepoint, so
 * that its failure affects nothing else.
 */
export class SharedTransaction {
  readonly root = new Frame();
  private readonly turns = new Turns(this.root);
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
    return this.turns.isClosed;
  }

  /** The waiters for the end of the frame of the current flow, or of the whole transaction. */
  get waiters(): Waiter[] {
    return this.placeOf(undefined).waiters;
  }

  /** Makes a nested transaction, not yet begun. @param last the runner's own innermost transaction */
  newFrame(runner: object, last: Frame | undefined, isApart: boolean): Frame {
    return new Frame(this.placeOf(last), runner, isApart);
  }

  async begin(frame: Frame): Promise<void> {
    const enter = (parent: Frame) => {
      // It was begun at once with the one around it.
      if (!parent.begun) throw (this.failure ??= Refusal.atOnce());
      frame.parent = parent;
      this.turns.innermost = frame;
    };
    await this.turns.take(frame.parent!, enter, frame.owner);
    try {
      await this.client.query(`SAVEPOINT ${frame.name}`);
      frame.begun = true;
    } catch (error) {
      this.turns.leave(frame);
      throw explained(error);
    }
  }

  async commit(frame: Frame): Promise<void> {
    if (frame.refusalAround) throw frame.refusalAround;
    if (frame.isNested) frame.settings.handTo(frame.parent!.orParent.settings);
    else await this.turns.take(frame, () => frame.settings.restore(this.client));
    // If the same flow has begun another transaction since and continues with it, that savepoint lies within this one. So does
    // that of another flow, which may wait for this end.
    if (this.flowIsBelow(frame) || this.turns.innermost.isBesideIn(frame)) frame.open = false;
    else await this.finish(frame, `RELEASE SAVEPOINT ${frame.name}`);
    frame.joinParent();
  }

  async rollback(frame: Frame): Promise<void> {
    if (frame.strange) this.failure ??= Refusal.undone(frame);
    // The flow that has written it doesn't know of the rollback.
    if (frame.beside && this.placeOf(undefined).isWithin(frame)) {
      const { by, written } = frame.beside;
      this.refuse(by, Refusal.undoneBeside(written));
    }
    if (frame.isPromised) this.refuse(frame.around, Refusal.left());
    if (this.flowIsBelow(frame)) throw (this.failure = Refusal.interleaved());
    try {
      await this.finish(frame, `ROLLBACK TO SAVEPOINT ${frame.name}`);
    } finally {
      // If it failed, the connection is lost.
      this.turns.leave(frame);
    }
  }

  /** Runs a runner's statement. @param last the runner's own innermost transaction */
  async query(runner: object, last: Frame | undefined, text: string, values?: unknown[]): Promise<QueryResult> {
    if (isControl(text)) throw Refusal.control();
    const by = this.placeOf(last);
    const flow = this.currentFrame();
    const run = (frame: Frame) => {
      if (frame.owner !== runner) return this.turns.occupying(frame, () => runAlone(this.client, frame, text, values));
      frame.wrote ||= mayWrite(text);
      if (!by.isWithin(frame) && !flow?.isWithin(frame) && leavesMore(text)) {
        frame.noteBeside({ by, written: nameOfStatement(text) });
      }
      if (setsLocally(text)) return this.turns.occupying(frame, () => frame.settings.set(this.client, text, values));
      if (frame.strange && isRollbackTo(text)) this.failure ??= Refusal.undone(frame);
      // The statement may release the mark's savepoint.
      if (isSavepoint(text)) frame.marked = false;
      return this.client.query(text, values);
    };
    return this.turns.take(by, run, runner);
  }

  /** Resolves when all participants have ended. Nothing new may begin. */
  close(): Promise<void> {
    return this.turns.close();
  }

  /** Called after the commit or rollback. */
  ended(): void {
    this.turns.isClosed = true;
    this.end();
  }

  /** Called when nobody waits any longer and the connection is being ended. */
  abandon(reason: Error): void {
    // Who waits for the end gets no connection any more: its unit is cancelled.
    this.end();
    this.turns.abandon(reason);
  }

  /**
   * The transaction that the current flow ends by a runner: its own, or the one begun last if the runner has begun that by hand
   * at the flow's place.
   */
  endedBy(runner: object, own: Frame, last: Frame, outcome: Outcome): Frame {
    const place = this.placeOf(own);
    if (!last.takesFrom(place, runner)) return own;
    if (last.beganWithin(place)) return last;
    // Begun beside this one, so that would be undone too.
    if (outcome === 'Rollback') throw (this.failure = Refusal.atOnce());
    return own;
  }

  /** The frame of the current flow, or the runner's own if the flow isn't in it. */
  private placeOf(last: Frame | undefined): Frame {
    const place = (this.currentFrame() ?? this.root).place;
    return !last || place.isWithin(last) ? place : last;
  }

  /** Something of it was undone that counts as committed. */
  private refuse(frame: Frame | undefined, reason: Error): void {
    if (frame?.open && frame.owner) frame.refusal ??= reason;
    else this.failure ??= reason;
  }

  private flowIsBelow(frame: Frame): boolean {
    const place = this.placeOf(undefined);
    return place !== frame && place.isWithin(frame);
  }

  private async finish(frame: Frame, text: string): Promise<void> {
    // Occupies the frame meanwhile, so that nothing else runs between.
    const ending = new Frame(frame);
    await this.turns.take(frame, () => {
      // Two ends were meant for it.
      if (!frame.open) throw (this.failure ??= Refusal.atOnce());
      this.turns.innermost = ending;
    });
    try {
      await this.client.query(text);
      frame.open = false;
    } catch (error) {
      throw explained(error);
    } finally {
      this.turns.leave(ending);
    }
  }
}
