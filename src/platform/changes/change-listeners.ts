import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import type { Caller } from '../auth/caller';
import { Settings } from '../config/settings';
import type { ChangesQuery, ChangesRead } from './changes';
import { Follower, type Following } from './follower';
import { type ListenerLimits, ListenerPlaces } from './listener-places';
import { beforeTelling } from '../replica/told';
import { LiveChanges } from './live-changes';

/** Requests that wait for changes. While they wait, they hold nothing but memory. */
@Injectable()
export class ChangeListeners {
  private readonly places = new ListenerPlaces();

  constructor(
    private readonly live: LiveChanges,
    private readonly settings: Settings,
    @InjectDataSource() private readonly database: DataSource,
  ) {}

  /** How many wait for changes now. */
  get count(): number {
    return this.live.size;
  }

  /**
   * Takes a place for a request until its answer is over.
   * @throws {ApiError} TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  admit(request: Request, limits: ListenerLimits): void {
    this.places.take(request, limits);
  }

  /** Passes on what there is after a position and what comes, until the answer is over. */
  follow(request: Request, query: ChangesQuery, following: Following): Follower {
    return new Follower(this.live, request, query, following);
  }

  /** To be awaited before a caller is told of changes, so that it finds them. Undefined if there is nothing to wait for. */
  beforeTelling(caller: Caller): Promise<void> | undefined {
    return beforeTelling(this.database, caller);
  }

  /** Reads something for a request that follows, in turns with others that do. */
  inTurn<T>({ ip }: Request, read: () => Promise<T>): Promise<T> {
    return this.live.inTurn(ip, read);
  }

  /**
   * The changes after a position, as soon as there are some; none when the time is up, and when the service stops.
   * @param patience milliseconds
   * @throws {AuthenticationError} when the caller may no longer read
   */
  wait(request: Request, query: ChangesQuery, patience: number): Promise<ChangesRead> {
    request.timeLimit?.allow(performance.now() - request.startedAt + patience + this.settings.REQUEST_TIMEOUT);
    return new Promise((resolve, reject) => {
      const answer = (found: ChangesRead) => {
        clearTimeout(timer);
        follower.leave();
        request.readsSince = performance.now();
        resolve(found);
      };
      const nothing = () => answer({ changes: [], next: follower.after, more: false });
      const follower = this.follow(request, query, {
        take: (found) => (found.changes.length > 0 ? answer(found) : undefined),
        tick: () => undefined,
        over: (reason) => (reason ? (clearTimeout(timer), reject(reason)) : nothing()),
      });
      const timer = setTimeout(nothing, patience).unref();
      (request.res as Response).once('close', nothing);
    });
  }
}
