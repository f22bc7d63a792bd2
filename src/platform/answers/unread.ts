import type { Response } from 'express';
import { ApiError } from '../errors/api-error';
import { endsByItself, sendError } from '../errors/error-response';
import { networkOf } from '../limits/client-network';
import { SharedRoom } from '../limits/shared-room';

const MEBIBYTE = 1024 * 1024;
/** Bytes of answers that may wait for their readers at once, in this process; a large one that comes then is 503. */
const MAX_UNREAD = 128 * MEBIBYTE;
/** The same for the readers of one network: who leaves them unread takes only its own share. */
const MAX_OF_NETWORK = MAX_UNREAD / 4;
/** Bytes up to which an answer has as much room again: those who read don't do without for those who don't. */
const USUAL = MEBIBYTE;
/** Bytes of which an answer is sent at a time. One that has no more of them than that counts as small. */
export const PIECE = 64 * 1024;
/** How many bytes of UTF-8 a unit of a string has at most. */
const PER_UNIT = 3;

/** Bytes of answers that are being made, or whose clients haven't taken them yet. */
const unread = new SharedRoom();
const taken = new WeakMap<Response, number>();

/**
 * Takes room in memory for an answer, until it has left or its client has gone. Asked again for the same, it changes that.
 * @throws {ApiError} SERVICE_UNAVAILABLE when clients leave too much unread
 */
export function takeRoom(response: Response, bytes: number): void {
  if (bytes <= PIECE && unread.taken === 0) return;
  const own = taken.get(response);
  if (response.closed || (own === undefined && bytes <= PIECE)) return;
  const more = bytes - (own ?? 0);
  const network = networkOf(response.req.ip);
  const ofNetwork = unread.takenBy(network);
  const [limit, share] = bytes > USUAL ? [MAX_UNREAD, MAX_OF_NETWORK] : [2 * MAX_UNREAD, 2 * MAX_OF_NETWORK];
  const others = ofNetwork - (own ?? 0);
  // The first of a network may be larger than its share, but not than what there is.
  const isTooMuch = unread.taken + more > limit || (others > 0 && ofNetwork + more > share);
  if (more > 0 && isTooMuch) {
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large answers wait to be read' });
  }
  if (own === undefined) response.once('close', () => unread.add(network, -taken.get(response)!));
  taken.set(response, bytes);
  unread.add(network, more);
}

/**
 * Whether there is room for what is written in one piece, by whatever code. Where there is none its client gets 503, or, in the
 * middle of an answer, the end of its connection. Nothing is thrown: what writes may be a stream, with nobody to catch it.
 */
export function hasRoomFor(response: Response, chunk: unknown): boolean {
  const length = bytesIn(chunk);
  if (length <= PIECE || response.req.method === 'HEAD') return true;
  try {
    takeRoom(response, response.writableLength + length);
    return true;
  } catch (error) {
    // Its source goes on writing to what has ended.
    response.on('error', () => undefined);
    if (response.headersSent) response.destroy();
    else sendError(response, error as ApiError, response.req.id);
    return false;
  }
}

function bytesIn(chunk: unknown): number {
  if (typeof chunk === 'string') return PER_UNIT * chunk.length <= PIECE ? chunk.length : Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.length : 0;
}

/** In pieces, each when the one before has left: what has been sent tells whether somebody reads it. */
export function sendPieces(response: Response, bytes: Buffer): void {
  let at = 0;
  endsByItself(response);
  const sendMore = () => {
    while (at + PIECE < bytes.length) {
      const piece = bytes.subarray(at, (at += PIECE));
      if (!response.write(piece)) return void response.once('drain', sendMore);
    }
    response.end(bytes.subarray(at));
  };
  sendMore();
}
