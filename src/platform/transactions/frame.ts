import type { Waiter } from './after-commit';
import { LocalSettings } from './local-settings';
import type { Statement } from './statement-group';
import { nameOf } from './statement-names';
import { Refusal } from './transaction-refusals';

/** A write, and the transaction in whose flow it was made. */
export interface Beside {
  readonly written: string;
  readonly by: Frame;
}

const NESTED = 'a nested transaction';

/** One nested transaction within a shared transaction: everything after its savepoint. */
export class Frame {
  /** Unique within the transaction, and the same in each: tools that sum statements up by their texts know few of them. */
  readonly name: string;
  private readonly root: Frame;
  private frames = 0;
  open = true;
  /** True when the savepoint exists. Before that, nothing can be in the frame. */
  begun = false;
  /** True if a statement has written in the frame. */
  wrote = false;
  /** The first write in this frame by code other than its owner. That code expects to be independent of the frame. */
  strange?: string;
  /** What a flow that isn't in the frame has written in it by the same owner: that of the outermost such flow. */
  beside?: Beside;
  /** True if the writes of all code belong to the frame. Nobody expects to be independent of it. */
  takesAll = false;
  readonly settings = new LocalSettings();
  readonly waiters: Waiter[] = [];
  /** True if its own flow is over by a failure, so that it must not be committed. */
  isRefused = false;
  /** The reason why it must not be committed, because something was undone that counts as written in it. */
  refusal?: Error;
  /** True if its own flow is over and takes it for committed. */
  isPromised = false;
  private readonly begunIn: Frame | undefined;
  /** True if there is a savepoint before the latest statement of other code. */
  marked = false;

  /**
   * @param owner the query runner whose transaction it is
   * @param isApart true while only the flow that begins it uses it; false if it was begun by hand, for whichever function
   */
  constructor(
    public parent?: Frame,
    readonly owner?: object,
    public isApart = true,
  ) {
    this.root = parent?.root ?? this;
    this.begunIn = parent;
    this.name = `frame_${++this.root.frames}`;
  }

  /** The savepoint before the latest statement of other code. */
  get mark(): string {
    return `mark_${this.name}`;
  }

  /** Sets the mark, instead of an earlier one. */
  newMark(): Statement[] {
    const texts = [...(this.marked ? [`RELEASE SAVEPOINT ${this.mark}`] : []), `SAVEPOINT ${this.mark}`];
    this.marked = true;
    // The names of other frames are too many.
    return texts.map((text) => ({ text, name: this.parent ? undefined : nameOf(text) }));
  }

  /** This frame, or the innermost one around it that is open. */
  get orParent(): Frame {
    return this.open || !this.parent ? this : this.parent.orParent;
  }

  /** This frame, or the innermost one around it that is open and has begun. */
  get place(): Frame {
    return (this.open && this.begun) || !this.parent ? this : this.parent.place;
  }

  isWithin(other: Frame): boolean {
    return this === other || (this.parent?.isWithin(other) ?? false);
  }

  /**
   * True if what a runner does at this place belongs here: the runner has begun all from there to here by hand, or their own
   * flows are over.
   */
  takesFrom(place: Frame, runner: object | undefined): boolean {
    if (this === place) return true;
    if (this.isApart || !runner || (this.owner !== runner && !this.isLeft)) return false;
    return this.parent!.orParent.takesFrom(place, runner);
  }

  /** True if its own flow is over without its end. */
  private get isLeft(): boolean {
    return this.isRefused || this.isPromised;
  }

  /** True if this one, and each around it up to the place, was begun by a flow that is within the place. */
  beganWithin(place: Frame): boolean {
    if (this === place) return true;
    return (this.begunIn?.isWithin(place) ?? false) && this.parent!.orParent.beganWithin(place);
  }

  /** True if it is in the other one, but within something of a flow that isn't in that. */
  isBesideIn(other: Frame): boolean {
    if (this === other || !this.parent) return false;
    const parent = this.parent.orParent;
    return parent === other ? !this.begunIn!.isWithin(other) : parent.isBesideIn(other);
  }

  /** The innermost transaction of the same owner around this one. */
  get around(): Frame | undefined {
    let frame = this.parent?.orParent;
    while (frame && frame.owner !== this.owner) frame = frame.parent?.orParent;
    return frame;
  }

  /** The reason why this one, or one of the same owner around it, must not be committed. */
  get refusalAround(): Error | undefined {
    return this.refusal ?? (this.isRefused ? Refusal.left() : this.around?.refusalAround);
  }

  noteBeside(beside: Beside): void {
    if (!this.beside || this.beside.by.isWithin(beside.by)) this.beside = beside;
  }

  /** True if it is a savepoint within a transaction of the same owner. */
  get isNested(): boolean {
    return this.owner !== undefined && this.parent?.orParent.owner === this.owner;
  }

  /** Passes the frame's settings, waiters and writes on to the frame around it. */
  joinParent(): void {
    const parent = this.parent!.orParent;
    const isStrange = this.wrote && parent.owner !== this.owner;
    parent.wrote ||= this.wrote;
    parent.waiters.push(...this.waiters.splice(0));
    if (this.beside && !this.beside.by.isWithin(parent)) parent.noteBeside(this.beside);
    const by = this.begunIn!;
    // It was begun where the one around it is not known.
    if (this.wrote && !by.isWithin(parent)) parent.noteBeside({ by, written: NESTED });
    if (!parent.takesAll) parent.strange ??= this.strange ?? (isStrange ? 'a transaction of its own' : undefined);
  }
}
