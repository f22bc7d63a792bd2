import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { queueKeysOf } from '../limits/client-network';
import { FairQueue } from '../limits/fair-queue';
import { UnitOfWork } from '../transactions/unit-of-work';

/** Reads that begin in one turn of the event loop, some 30 ms of work. */
const PER_TURN = 100;
/**
 * Statements that may wait for a connection, for each connection of the pool: enough to keep all of them busy. More would
 * wait there in the order of their arrival.
 */
const PER_CONNECTION = 2;
/** Reads that may wait. Beyond it, the network with most of them gets 503. */
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

interface Waiting {
  begin: () => void;
  refuse: () => void;
}

/**
 * Lets networks take turns when more reads come than can be begun at once. Without it, one client with thousands of
 * connections has as many reads in work, and everybody else waits for all of them: for the event loop, and for a
 * connection to the database, which reads of one row get in the order of their arrival.
 */
export class RequestTurns {
  private readonly line = new FairQueue<Waiting>();
  /** Reads that have begun in this turn of the event loop. */
  private begun = 0;
  private latestRelease = -Infinity;
  private isScheduled = false;
  private later?: NodeJS.Timeout;

  /** @param pool Default: none */
  constructor(
    private readonly pool?: PoolInUse,
    private readonly maxWaiting = MAX_WAITING,
  ) {
    pool?.on('release', () => {
      this.latestRelease = performance.now();
      if (this.line.size > 0) this.schedule();
    });
  }

  /** Passes a read of the API on when it has its turn, and everything else at once. */
  readonly take: RequestHandler = (request, response, next) => {
    if (request.version === undefined || !isRead(request)) return next();
    if (this.line.size > 0 || !this.hasRoom()) return this.wait(request, response, next);
    this.count();
    next();
  };

  private hasRoom(): boolean {
    const { pool } = this;
    const waiting = pool?.waitingCount ?? 0;
    const isMoving = waiting > 0 && performance.now() - this.latestRelease < STANDSTILL;
    // A request has its first statement later than it begins.
    return this.begun < (isMoving ? PER_CONNECTION * pool!.options.max - waiting : PER_TURN);
  }

  private count(): void {
    this.begun++;
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
    this.begun = 0;
    while (this.line.size > 0 && this.hasRoom()) {
      this.count();
      this.line.next()!.begin();
    }
    if (this.line.size > 0 && !this.isScheduled) this.lookLater();
  }

  private lookLater(): void {
    this.later ??= setTimeout(() => {
      this.later = undefined;
      this.schedule();
    }, LATER).unref();
  }

  private wait({ ip }: Request, response: Response, next: NextFunction): void {
    const keys = queueKeysOf(ip);
    if (this.line.size >= this.maxWaiting) {
      const other = this.line.latestOfLonger(keys);
      if (!other) return next(tooMany());
      other.refuse();
    }
    const leave = () => this.line.remove(waiting, keys);
    const waiting: Waiting = {
      begin: () => {
        response.off('close', leave);
        // The time limit may have answered meanwhile.
        if (!response.headersSent) next();
      },
      refuse: () => {
        response.off('close', leave);
        leave();
        next(tooMany());
      },
    };
    this.line.add(waiting, keys);
    response.once('close', leave);
    this.schedule();
  }
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

const tooMany = (): ApiError => new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many requests wait already' });
