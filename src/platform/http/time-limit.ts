import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { isEventStream } from './event-stream';

/** Grace period for a client that still sends its body after the time limit has answered, in milliseconds. */
const LAST_RESORT = 5_000;
/** How long a request whose time is up may still take for what comes of a commit that went out before, in milliseconds. */
const OUTCOME = 1_000;
/** How often a request that takes long is looked at, as a part of its limit. */
const LOOKS = 6;
/** Bytes a second that a client must read or send to be waited for: a telephone line of old had twice as much. */
export const MIN_RATE = 1024;
/** For how long a client may stay below that rate, in limits; whoever was fast before has no more of it. */
const SLOW_FOR = 5;
const MILLISECOND = 1_000;

/**
 * How long a request may take: from the arrival of its headers to its answer, or, for one that moves many bytes, from one
 * sign of progress to the next. An answer that has begun is such bytes, too.
 */
export class TimeLimit {
  /** Requests that are not answered and move no bytes. */
  private static awaited = 0;
  /** When the last of them was answered, by the clock of `performance`. */
  private static lastAwaited = -Infinity;
  private timer: NodeJS.Timeout;
  /** Whether it is for bytes that move. */
  private moving = false;
  private awaited = true;
  /** Bytes that have moved since the last look. */
  private moved = 0;
  /** Bytes that had left by this connection at the last look; unknown before the answer begins. */
  private left?: number;
  /** When its time is up unless bytes move, by the clock of `performance`. */
  private deadline: number;
  /** Whether what comes of a commit was waited for. */
  private outcomeWasAwaited = false;
  /** When its time is up although bytes move, as they are too few. */
  private patience: number;

  /**
   * @param limit milliseconds
   * @param onEnd told when the time is up
   * @param onGone told when the client goes away before the answer, unless what it has sent until then counts
   */
  constructor(
    private limit: number,
    private readonly request: Request,
    private readonly response: Response,
    private readonly onEnd: () => void,
    private readonly onGone: () => void,
  ) {
    this.allowFrom(request.startedAt);
    this.timer = setTimeout(() => this.look(), limit / LOOKS).unref();
    TimeLimit.awaited++;
    response.on('close', () => this.closed());
    // On 'finish', not on 'close': a handler whose client has disconnected stays under the limit.
    response.on('finish', () => this.answered());
  }

  /** Whether a request that is not streaming is in flight, or was finished less than `within` milliseconds ago. */
  static wasAwaited(within: number): boolean {
    return TimeLimit.awaited > 0 || performance.now() - TimeLimit.lastAwaited < within;
  }

  /** Its route has a limit of its own, from the arrival of the headers too. @param limit milliseconds */
  allow(limit: number): void {
    this.limit = limit;
    this.allowFrom(this.request.startedAt);
  }

  private allowFrom(moment: number): void {
    this.deadline = moment + this.limit;
    this.patience = moment + SLOW_FOR * this.limit;
  }

  /** The request is for bytes that move, and so many have. */
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
      this.patience = Math.min(this.patience + (this.moved / MIN_RATE) * MILLISECOND, now + SLOW_FOR * this.limit);
      this.moved = 0;
    }
    const rest = Math.min(this.deadline, this.patience) - now;
    if (rest <= 0) return this.end();
    this.timer = setTimeout(() => this.look(), Math.min(rest, this.limit / LOOKS)).unref();
  }

  /** Bytes of the answer that its client, or the system on the way there, has taken since the last look. */
  private haveLeft(): number {
    const { socket } = this.response;
    const now = socket ? socket.bytesWritten - socket.writableLength : (this.left ?? 0);
    // Its beginning is a sign of progress.
    const since = this.left === undefined ? 1 : now - this.left;
    this.left = now;
    return since;
  }

  /** A client that has read all of an event stream waits for the next event: nobody waits for the client. */
  private awaitsEvents(): boolean {
    const { response } = this;
    return isEventStream(response) && response.writableLength === 0 && response.socket?.writableLength === 0;
  }

  private end(): void {
    if (this.awaitsOutcome()) return;
    const begun = this.response.headersSent;
    this.onEnd();
    // Bytes that nobody takes any more: an answer that has begun can only be broken off.
    if (begun) this.response.destroy();
  }

  /** What may be committed can't be called off any more: what came of it is the answer, if the database says so in time. */
  private awaitsOutcome(): boolean {
    const { request, response } = this;
    if (this.outcomeWasAwaited || response.headersSent || !request.work?.mayBeCommitted) return false;
    this.outcomeWasAwaited = true;
    // After a busy time what has arrived meanwhile is read first.
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

  /** A body that comes after its answer is let pass, so that its client gets to read that, but not for ever. */
  private answered(): void {
    clearTimeout(this.timer);
    const { request } = this;
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

/** Node ends the requests of a connection that closes, but none that was answered: whoever reads its body would wait for ever. */
function onceClosed(socket: Socket, end: () => void): void {
  if (socket.closed) end();
  else socket.once('close', end);
}

/** As Node says it. */
const aborted = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
