import cluster from 'node:cluster';
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { BoundedQueue, type Queued } from '../limits/bounded-queue';
import { queueKeysOf } from '../limits/client-network';
import { LONG } from '../limits/semaphore';
import { UnitOfWork } from '../transactions/unit-of-work';
import { TurnBudget } from './turn-budget';

/** Connections that are accepted at most before requests begin again. */
const MAX_CONNECTIONS = 50;
/** How long the next connection may take, in milliseconds. A worker process is given it by another process. */
const NEXT_CONNECTION = cluster.isWorker ? 1 : 0;
/**
 * Statements that may wait for a connection, for each connection of the pool: enough to keep all of them busy. More would
 * wait there in the order of their arrival.
 */
const PER_CONNECTION = 2;
/** Requests that may wait. Beyond it, the network with most of them gets 503 for one. */
const MAX_WAITING = 10_000;
/** Milliseconds after which a pool that gives nothing back stands still: whoever waits learns more from its errors. */
const STANDSTILL = 1_000;
/** How soon to look again, in milliseconds, if no connection is given back meanwhile. */
const LATER = 20;

/** The used properties of a pool of connections. */
export interface PoolInUse {
  /** The number of statements that wait for a connection. */
  readonly waitingCount: number;
  options: { max: number };
  on: (event: 'release', listener: () => void) => unknown;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** The queue of requests, and the number of the turn in which this one has begun. */
    turns?: RequestTurns;
    turn?: number;
  }
}

interface Waiting extends Queued {
  begin: () => void;
}

type Next = (error?: Error) => void;

/**
 * Lets networks take turns when more requests come than can be begun at once. Without it, one client with thousands of
 * connections has as many requests in work, and everybody else waits for all of them: for the event loop, and for a
 * connection to the database, which reads of one row get in the order of their arrival.
 */
export class RequestTurns {
  private readonly queue: BoundedQueue<Waiting>;
  /** The number of this turn of the event loop. */
  private turn = 0;
  private readonly budget = new TurnBudget();
  /** The connections that were accepted while requests wait, whether one was in this turn, and when the latest was. */
  private connections = 0;
  private hasAccepted = false;
  private latestConnection = 0;
  private latestRelease = -Infinity;
  private isScheduled = false;
  private later?: NodeJS.Timeout;

  /** @param pool Default: none */
  constructor(
    private readonly pool?: PoolInUse,
    maxWaiting = MAX_WAITING,
  ) {
    this.queue = new BoundedQueue(maxWaiting);
    pool?.on('release', () => {
      this.latestRelease = performance.now();
      if (this.queue.size > 0) this.schedule();
    });
  }

  /** Passes a request on when it has its turn. */
  take(request: Request, response: Response, next: NextFunction): void {
    request.turns = this;
    if (this.isToWait()) return this.wait(request, response, next);
    this.count(request);
    next();
  }

  /**
   * For the work of a request that begins when its body is complete: its own turn, unless that is still the one in which
   * the request has begun.
   * @returns undefined if the work may begin at once
   * @throws {ApiError} SERVICE_UNAVAILABLE when too many wait, or nobody waits for the answer any more
   */
  again(request: Request): Promise<void> | undefined {
    if (request.turn === this.turn) return undefined;
    if (!this.isToWait()) return void this.count(request);
    const start = performance.now();
    return new Promise((resolve, reject) => {
      const next: Next = (error) => {
        if (request.work && performance.now() - start > LONG) request.work.waitedLong = true;
        if (error) reject(error);
        else resolve();
      };
      this.wait(request, request.res!, next, () => reject(tooMany()));
    });
  }

  /**
   * To be called for each new connection. A socket that listens gives one in each turn of the event loop, so further ones
   * are accepted before other requests begin. If there is none, that takes no time.
   */
  accepted(): void {
    this.connections++;
    this.hasAccepted = true;
    this.latestConnection = performance.now();
    this.schedule();
  }

  private isToWait(): boolean {
    return this.connections > 0 || this.queue.size > 0 || !this.hasRoom();
  }

  private hasRoom(): boolean {
    const { pool } = this;
    const waiting = pool?.waitingCount ?? 0;
    const isMoving = waiting > 0 && performance.now() - this.latestRelease < STANDSTILL;
    // A request has its first statement later than it begins.
    if (isMoving && this.budget.begun >= PER_CONNECTION * pool!.options.max - waiting) return false;
    return this.budget.isLeft;
  }

  private count(request: Request): void {
    request.turn = this.turn;
    this.budget.spend();
    this.schedule();
  }

  /** Node emits requests, and the pool its events, within the work of other requests. */
  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    UnitOfWork.outside(() => setImmediate(() => this.nextTurn()));
  }

  private nextTurn(): void {
    this.isScheduled = false;
    this.budget.renew();
    this.turn++;
    if (this.awaitsConnection()) return this.schedule();
    this.connections = 0;
    while (this.queue.size > 0 && this.hasRoom()) this.queue.next()!.begin();
    if (this.queue.size > 0 && !this.isScheduled) this.lookLater();
  }

  private awaitsConnection(): boolean {
    const { connections, hasAccepted } = this;
    this.hasAccepted = false;
    if (connections === 0 || connections >= MAX_CONNECTIONS) return false;
    return hasAccepted || performance.now() - this.latestConnection < NEXT_CONNECTION;
  }

  private lookLater(): void {
    this.later ??= setTimeout(() => {
      this.later = undefined;
      this.schedule();
    }, LATER).unref();
  }

  /** @param onGone called instead of `next` when nobody waits for the answer any more */
  private wait(request: Request, response: Response, next: Next, onGone: () => void = nothing): void {
    const leave = () => {
      this.queue.remove(waiting);
      onGone();
    };
    const waiting: Waiting = {
      keys: queueKeysOf(request.ip),
      begin: () => {
        response.off('close', leave);
        this.count(request);
        // The time limit may have answered meanwhile.
        if (response.headersSent) return onGone();
        try {
          next();
        } catch (error) {
          // Express would catch it in the turn in which the request came.
          next(error as Error);
        }
      },
      refuse: () => {
        response.off('close', leave);
        next(tooMany());
      },
    };
    if (!this.queue.add(waiting)) return next(tooMany());
    response.once('close', leave);
    this.schedule();
  }
}

const nothing = (): void => undefined;

const tooMany = (): ApiError => new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many requests wait already' });
