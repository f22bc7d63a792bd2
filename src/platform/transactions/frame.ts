import type { Waiter } from './after-commit';
import { LocalSettings } from './local-settings';

let frames = 0;

/** One transaction among those that are nested in a shared one: all that follows its savepoint. */
export class Frame {
  readonly name = `frame_${++frames}`;
  open = true;
  /** Whether its savepoint is there; before that, nobody can be inside of it. */
  begun = false;
  /** Whether anything was written inside of it. */
  wrote = false;
  /** What others than its owner wrote inside of it: they believe that it stands for itself. */
  strange?: string;
  readonly settings = new LocalSettings();
  readonly waiters: Waiter[] = [];
  /** Whether there is a savepoint before the latest statement of others than its owner. */
  marked = false;

  /** @param owner the query runner whose transaction it is */
  constructor(
    public parent?: Frame,
    readonly owner?: object,
  ) {}

  /** Itself, or what it is nested in, whichever hasn't ended. */
  get orParent(): Frame {
    return this.open || !this.parent ? this : this.parent.orParent;
  }

  /** Itself, or what it is nested in, whichever somebody can be inside of. */
  get place(): Frame {
    return (this.open && this.begun) || !this.parent ? this : this.parent.place;
  }

  isWithin(other: Frame): boolean {
    return this === other || (this.parent?.isWithin(other) ?? false);
  }

  /** Whether it is a savepoint of what its owner takes for the whole transaction. */
  get isNested(): boolean {
    return this.owner !== undefined && this.parent?.orParent.owner === this.owner;
  }

  /** What it did becomes part of what it is nested in. */
  joinParent(): void {
    const parent = this.parent!.orParent;
    const isStrange = this.wrote && parent.owner !== this.owner;
    parent.wrote ||= this.wrote;
    parent.waiters.push(...this.waiters.splice(0));
    parent.strange ??= this.strange ?? (isStrange ? 'a transaction of its own' : undefined);
  }
}

/** What has its turn in a frame. */
export interface Waiting {
  frame: Frame;
  act: (frame: Frame) => void;
  reject: (error: Error) => void;
}
