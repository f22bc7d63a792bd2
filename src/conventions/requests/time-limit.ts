import type { Request, Response } from 'express';
import './request-context';

/** How long, after its request's time is up, a connection may still take for what has not arrived, in milliseconds. */
const LAST_RESORT = 5_000;

/**
 * How long a request may take: from the arrival of its headers to its answer, or, for one that moves many bytes, from one
 * sign of progress to the next.
 */
export class TimeLimit {
  /** Requests that are not answered and move no bytes. */
  private static awaited = 0;
  /** When the last of them was answered, by the clock of `performance`. */
  private static lastAwaited = -Infinity;
  private readonly timer: NodeJS.Timeout;
  private ended = false;
  /** Whether it is for bytes that move. */
  private moving = false;
  private awaited = true;

  /** @param limit milliseconds */
  constructor(
    limit: number,
    private readonly request: Request,
    response: Response,
    onEnd: () => void,
  ) {
    this.timer = setTimeout(() => {
      this.ended = true;
      const begun = response.headersSent;
      onEnd();
      // Bytes that nobody takes any more: an answer that has begun can only be broken off.
      if (begun && this.moving) response.destroy();
    }, limit).unref();
    TimeLimit.awaited++;
    response.on('close', () => this.noLongerAwaited());
    // Not at its close: what a client that went away has started takes no longer than the rest.
    response.on('finish', () => this.answered());
  }

  /** Whether somebody waits for an answer, or has within so many milliseconds, other than by moving many bytes. */
  static wasAwaited(within: number): boolean {
    return TimeLimit.awaited > 0 || performance.now() - TimeLimit.lastAwaited < within;
  }

  /** Bytes have moved: the time begins anew. */
  progress(): void {
    this.moving = true;
    this.noLongerAwaited();
    if (!this.ended) this.timer.refresh();
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
    const lastResort = setTimeout(() => request.complete || request.socket.destroy(), LAST_RESORT).unref();
    request.once('close', () => clearTimeout(lastResort));
  }
}
