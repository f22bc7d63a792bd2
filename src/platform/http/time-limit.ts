import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { isEventStream } from './event-stream';
import { MS_PER_SECOND } from '../units';

/** Grace period for a client that still sends its body after the time limit has answered, in milliseconds. */
const LAST_RESORT = 5_000;
/** Grace period for the outcome of a commit that was sent before the time was up, in milliseconds. */
const OUTCOME = 1_000;
/** A slow request is checked this many times within its limit. */
const LOOKS = 6;
/** The least transfer rate in bytes per second. A slower client isn't waited for. An old modem is twice as fast. */
export const MIN_RATE = 1024;
/** The time that a client may stay below the rate, as a multiple of its limit. A fast start doesn't extend it. */
const SLOW_FOR = 5;

/**
 * Limits the time of a request: from the arrival of its headers to its answer, or, if it streams many bytes, from one
 * sign of progress to the next. An answer that has begun counts as streaming.
 */
export class TimeLimit {
  /** The number of requests that are unanswered and don't stream. */
  private static awaited = 0;
  /** When the last of them was answered, by the clock of `performance`. */
  private static lastAwaited = -Infinity;
  private timer: NodeJS.Timeout;
  /** True if the request streams bytes. */
  private moving = false;
  private awaited = true;
  /** Bytes transferred since the last check. */
  private moved = 0;
  /** Bytes that the connection had sent at the last check. Undefined before the answer begins. */
  private left?: number;
  /** When the time is up unless bytes move, by the clock of `performance`. */
  private deadline: number;
  /** True if the outcome of a commit was waited for. */
  private outcomeWasAwaited = false;
  /** When the time is up although bytes move, because they move too slowly. */
  private patience: number;

  /**
   * @param limit milliseconds
   * @param onEnd called when the time is up
   * @param onGone called when the client goes away before the answer, unless its request streams
   * @param onLeft called when the request is answered and leaves a read that was begun for it
   */
  constructor(
    private limit: number,
    private readonly request: Request,
    private readonly response: Response,
    private readonly onEnd: () => void,
    private readonly onGone: () => void,
    private readonly onLeft: () => void,
  ) {
    this.allowFrom(request.startedAt);
    this.timer = setTimeout(() => this.look(), limit / LOOKS).unref();
    TimeLimit.awaited++;
    response.on('close', () => this.closed());
    // On 'finish', not on 'close': a handler whose client has disconnected stays under the limit.
    response.on('finish', () => this.answered());
  }

  /** True if a non-streaming request is in flight, or finished less than `within` milliseconds ago. */
  static wasAwaited(within: number): boolean {
    return TimeLimit.awaited > 0 || performance.now() - TimeLimit.lastAwaited < within;
  }

  /** Sets the limit of the route, counted from the arrival of the headers. @param limit milliseconds */
  allow(limit: number): void {
    this.limit = limit;
    this.allowFrom(this.request.startedAt);
  }

  private allowFrom(moment: number): void {
    this.deadline = moment + this.limit;
    this.patience = moment + SLOW_FOR * this.limit;
  }

  /** Marks the request as streaming, and counts the transferred bytes. */
  progress(bytes = 1): void {
    this.moving = true;
    this.noLongerAwaited();
    this.moved += bytes;
  }

  private look(): void {
    const now = performance.now();
    if (this.response.headersSent) this.moved += this.haveLeft();
    if (this.awaitsEvents()) this.allowFrom(now);
    if (this.moved > 0) {
      this.deadline = now + this.limit;
      this.patience = Math.min(this.patience + (this.moved / MIN_RATE) * MS_PER_SECOND, now + SLOW_FOR * this.limit);
      this.moved = 0;
    }
    const rest = Math.min(this.deadline, this.patience) - now;
    if (rest <= 0) return this.end();
    this.timer = setTimeout(() => this.look(), Math.min(rest, this.limit / LOOKS)).unref();
  }

  /** Bytes of the answer that the client, or the system on the way to it, has taken since the last check. */
  private haveLeft(): number {
    const { socket } = this.response;
    const now = socket ? socket.bytesWritten - socket.writableLength : (this.left ?? 0);
    // The begin of the answer counts as progress.
    const since = this.left === undefined ? 1 : now - this.left;
    this.left = now;
    return since;
  }

  /**
   * True if the client has read an event stream completely: it waits for the next event, nobody waits for the client.
   */
  private awaitsEvents(): boolean {
    const { response } = this;
    return isEventStream(response) && response.writableLength === 0 && response.socket?.writableLength === 0;
  }

  private end(): void {
    if (this.awaitsOutcome()) return;
    const begun = this.response.headersSent;
    this.onEnd();
    // An answer that has begun can only be broken off.
    if (begun) this.response.destroy();
  }

  /** A commit that was sent can't be called off. Its outcome becomes the answer if the database reports it in time. */
  private awaitsOutcome(): boolean {
    const { request, response } = this;
    if (this.outcomeWasAwaited || response.headersSent || !request.work?.mayBeCommitted) return false;
    this.outcomeWasAwaited = true;
    // After a busy time, data that has arrived is read first.
    const onEnd = () => setImmediate(() => response.writableFinished || this.look());
    this.timer = setTimeout(onEnd, OUTCOME).unref();
    return true;
  }

  private closed(): void {
    this.noLongerAwaited();
    if (!this.response.writableEnded && !this.moving) this.onGone();
  }

  private noLongerAwaited(): void {
    if (!this.awaited) return;
    this.awaited = false;
    TimeLimit.awaited--;
    if (!this.moving) TimeLimit.lastAwaited = performance.now();
  }

  /** Lets a body pass that arrives after its answer, so that the client can read the answer, but not for ever. */
  private answered(): void {
    clearTimeout(this.timer);
    const { request } = this;
    if (request.prefetched?.row) this.onLeft();
    if (request.complete || request.destroyed) return;
    const { socket } = request;
    const lastResort = setTimeout(() => request.complete || socket.destroy(), LAST_RESORT).unref();
    const end = () => request.destroy(aborted());
    onceClosed(socket, end);
    request.once('close', () => {
      clearTimeout(lastResort);
      socket.off('close', end);
    });
  }
}

/**
 * Calls `end` when the connection closes. Node doesn't end answered requests of a closed connection, so a reader of
 * their bodies would wait for ever.
 */
function onceClosed(socket: Socket, end: () => void): void {
  if (socket.closed) end();
  else socket.once('close', end);
}

/** The error that Node itself uses. */
const aborted = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
