import type { Response } from 'express';
import { ApiError } from '../errors/api-error';

/** Bytes of large answers that may wait for their readers at once, in this process; what comes then is 503. */
const MAX_UNREAD = 128 * 1024 * 1024;
/** Bytes of which an answer is sent at a time. One that has no more of them than that counts as small. */
export const PIECE = 64 * 1024;

/** Bytes of answers that are being made, or whose clients haven't taken them yet. */
let unread = 0;
const taken = new WeakMap<Response, number>();

/**
 * Takes room in memory for an answer, until it has left or its client has gone. Asked again for the same, it changes that.
 * @throws {ApiError} SERVICE_UNAVAILABLE when clients leave too much unread
 */
export function takeRoom(response: Response, bytes: number): void {
  if (bytes <= PIECE && unread === 0) return;
  const own = taken.get(response);
  if (response.closed || (own === undefined && bytes <= PIECE)) return;
  const more = bytes - (own ?? 0);
  const others = unread - (own ?? 0);
  if (more > 0 && others > 0 && unread + more > MAX_UNREAD) {
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large answers wait to be read' });
  }
  if (own === undefined) response.once('close', () => (unread -= taken.get(response)!));
  taken.set(response, bytes);
  unread += more;
}

/** In pieces, each when the one before has left: what has been sent tells whether somebody reads it. */
export function sendPieces(response: Response, bytes: Buffer): void {
  let at = 0;
  const sendMore = () => {
    while (at + PIECE < bytes.length) {
      const piece = bytes.subarray(at, (at += PIECE));
      if (!response.write(piece)) return void response.once('drain', sendMore);
    }
    response.end(bytes.subarray(at));
  };
  sendMore();
}
