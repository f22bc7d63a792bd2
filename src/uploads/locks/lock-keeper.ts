/** Keeps the locks of one process where all processes see them. A lock never outlives its process for long. */
export abstract class LockKeeper {
  /**
   * Takes a lock, unless another process has it.
   * @param onLost called when the lock is lost before it is given back
   * @throws {Error} when it isn't known whether the lock was taken. It frees itself then
   */
  abstract take(key: string, onLost: () => void): Promise<boolean>;
  /** Gives a lock back. One that is lost already isn't touched: another process may have it. */
  abstract release(key: string): Promise<void>;
  /** Called when the process begins to stop. */
  abstract expectEnd(): void;
  /** Forgets locks that killed processes have left. */
  abstract removeStale(): Promise<void>;
  abstract close(): Promise<void>;
}
