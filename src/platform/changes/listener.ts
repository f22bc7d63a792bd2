import type { Caller } from '../auth/caller';

/** Somebody who waits for changes. */
export interface Listener {
  readonly caller: Caller;
  /** When the credentials end, in milliseconds since 1970. */
  readonly until?: number;
  /** Called when there may be more to read. */
  wake: () => void;
  /** Called once a second. @param now by the clock of `performance` */
  tick: (now: number) => void;
  /** Called when it may no longer listen, or, without a reason, when the service stops. */
  end: (reason?: Error) => void;
}
