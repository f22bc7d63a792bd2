import type { Response } from 'express';
import { ApiError } from '../errors/api-error';
import { networkOf } from '../requests/client-address';

const MEBIBYTE = 1024 * 1024;
/** Bytes of answers that may wait for their readers at once, in this process; a large one that comes then is 503. */
const MAX_UNREAD = 128 * MEBIBYTE;
/** The same for the readers of one network: who leaves them unread takes only its own share. */
const MAX_OF_NETWORK = MAX_UNREAD / 4;
/** Bytes up to which an answer has as much room again: those who read don't do without for those who don't. */
const USUAL = MEBIBYTE;
/** Bytes of which an answer is sent at a time. One that has no more of them than that counts as small. */
export const PIECE = 64 * 1024;

/** Bytes of answers that are being made, or whose clients haven't taken them yet. */
let unread = 0;
const taken = new WeakMap<Response, number>();
const ofNetworks = new Map<string, number>();

/**
 * Takes room in memory for an answer, until it has left or its client has gone. Asked again for the same, it changes that.
 * @throws {ApiError} SERVICE_UNAVAILABLE when clients leave too much unread
 */
export function takeRoom(response: Response, bytes: number): void {
  if (bytes <= PIECE && unread === 0) return;
  const own = taken.get(response);
  if (response.closed || (own === undefined && bytes <= PIECE)) return;
  const more = bytes - (own ?? 0);
  const network = networkOf(response.req.ip);
  const ofNetwork = ofNetworks.get(network) ?? 0;
  const [limit, share] = bytes > USUAL ? [MAX_UNREAD, MAX_OF_NETWORK] : [2 * MAX_UNREAD, 2 * MAX_OF_NETWORK];
  const others = ofNetwork - (own ?? 0);
  if (more > 0 && others > 0 && (unread + more > limit || ofNetwork + more > share)) {
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large answers wait to be read' });
  }
  if (own === undefined) response.once('close', () => add(network, -taken.get(response)!));
  taken.set(response, bytes);
  add(network, more);
}

function add(network: string, bytes: number): void {
  unread += bytes;
  const left = (ofNetworks.get(network) ?? 0) + bytes;
  if (left > 0) ofNetworks.set(network, left);
  else ofNetworks.delete(network);
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
