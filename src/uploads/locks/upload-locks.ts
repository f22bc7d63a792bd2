import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Lock, Locker } from '@tus/server';
import { ApiError } from '../../platform';
import { LockKeeper } from './lock-keeper';

/**
 * How long to wait for another holder to end, in milliseconds. One whose client has gone takes a moment to store its
 * bytes.
 */
const PATIENCE = 2_000;
const PAUSE = 50;

/** One writer for each upload across all processes and instances. */
@Injectable()
export class UploadLocks implements Locker, BeforeApplicationShutdown, OnApplicationShutdown {
  /** Locks held by this process. Needed because a process would get its own lock from the keeper a second time. */
  private readonly held = new Set<string>();

  constructor(private readonly keeper: LockKeeper) {}

  newLock(key: string): Lock {
    return {
      lock: (signal, letGo) => this.take(key, () => void letGo(), signal),
      unlock: () => this.release(key),
    };
  }

  /** Runs `work` while nobody else writes to the upload. @throws {ApiError} LOCKED */
  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.take(key, () => undefined);
    try {
      return await work();
    } finally {
      await this.release(key);
    }
  }

  /** Forgets locks that killed processes have left. */
  removeStale(): Promise<void> {
    return this.keeper.removeStale();
  }

  beforeApplicationShutdown(): void {
    this.keeper.expectEnd();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.keeper.close();
  }

  private async take(key: string, letGo: () => void, signal?: AbortSignal): Promise<void> {
    for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE)) {
      if (await this.tryToTake(key, letGo)) return;
      if (performance.now() > deadline || signal?.aborted) throw locked();
    }
  }

  private async tryToTake(key: string, letGo: () => void): Promise<boolean> {
    if (this.held.has(key)) return false;
    this.held.add(key);
    try {
      const taken = await this.keeper.take(key, letGo);
      if (!taken) this.held.delete(key);
      return taken;
    } catch (error) {
      this.held.delete(key);
      throw new ApiError('SERVICE_UNAVAILABLE', { cause: error });
    }
  }

  private async release(key: string): Promise<void> {
    await this.keeper.release(key).finally(() => this.held.delete(key));
  }
}

/** 423 for an upload that another request writes to. */
export const locked = (): ApiError => new ApiError('LOCKED');
