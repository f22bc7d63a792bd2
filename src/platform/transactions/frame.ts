import type { Waiter } from './after-commit';
import { LocalSettings } from './local-settings';
import type { Statement } from './statement-group';
import { nameOf } from './statement-names';

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
  /** True if the writes of all code belong to the frame. Nobody expects to be independent of it. */
  takesAll = false;
  readonly settings = new LocalSettings();
  readonly waiters: Waiter[] = [];
  /** True if there is a savepoint before the latest statement of other code. */
  marked = false;

  /** @param owner the query runner whose transaction it is */
  constructor(
    public parent?: Frame,
    readonly owner?: object,
  ) {
    this.root = parent?.root ?? this;
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
    if (!parent.takesAll) parent.strange ??= this.strange ?? (isStrange ? 'a transaction of its own' : undefined);
  }
}

/** An action that waits for its turn in a frame. */
export interface Waiting {
  frame: Frame;
  act: (frame: Frame) => void;
  reject: (error: Error) => void;
}
