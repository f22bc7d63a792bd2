import type { Response } from 'express';
import { ApiError } from '../errors/api-error';
import { endsByItself, sendError } from '../errors/error-response';
import { neighbourhoodOf, networkOf } from '../limits/client-network';
import { MemoryBudget } from '../limits/memory-budget';
import { kibibytes, mebibytes } from '../units';

/** Bytes of answers in this process that clients have not read yet. A large answer beyond it is 503. */
const MAX_UNREAD_BYTES = mebibytes(128);
/** The part of one network, so that slow readers only use up their own. */
const OF_NETWORK = 1 / 4;
/** Bytes of its neighbourhood, of all sizes together: many have several addresses. The other half is left for large answers. */
const MAX_BYTES_OF_NEIGHBOURHOOD = MAX_UNREAD_BYTES / 2;
/**
 * Small answers, up to this size, may use as much memory again: clients that read aren't refused because of clients
 * that don't.
 */
const USUAL_BYTES = mebibytes(1);
/** Answers are sent in pieces of this size. A smaller answer isn't counted. */
export const PIECE_BYTES = kibibytes(64);
/** The greatest number of UTF-8 bytes of a UTF-16 unit. */
const BYTES_PER_UNIT = 3;

/** Bytes of answers that are being made, or that clients have not read yet. */
const unread = new MemoryBudget();
const ofNeighbourhoods = new MemoryBudget();
const taken = new WeakMap<Response, number>();
/** Those whose whole answer is in memory, and has its room, or that never have more than a few pieces in memory. */
const inPieces = new WeakSet<Response>();

/**
 * Reserves memory for an answer until it was sent or its client has gone. Another call for the same answer changes the
 * amount.
 * @throws {ApiError} SERVICE_UNAVAILABLE when clients leave too much unread
 */
export function reserveMemory(response: Response, bytes: number): void {
  if (bytes <= PIECE_BYTES && unread.taken === 0) return;
  const own = taken.get(response);
  if (response.closed || (own === undefined && bytes <= PIECE_BYTES)) return;
  const more = bytes - (own ?? 0);
  const { ip } = response.req;
  const [network, neighbourhood] = [networkOf(ip), neighbourhoodOf(ip)];
  const limit = bytes > USUAL_BYTES ? MAX_UNREAD_BYTES : 2 * MAX_UNREAD_BYTES;
  // The only answer of a network may exceed the share, but not the total.
  const exceeds = (all: number, most: number) => all > (own ?? 0) && all + more > most;
  const isTooMuch =
    unread.taken + more > limit ||
    exceeds(unread.takenBy(network), limit * OF_NETWORK) ||
    exceeds(ofNeighbourhoods.takenBy(neighbourhood), MAX_BYTES_OF_NEIGHBOURHOOD);
  if (more > 0 && isTooMuch) {
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large answers wait to be read' });
  }
  const add = (added: number) => {
    unread.add(network, added);
    ofNeighbourhoods.add(neighbourhood, added);
  };
  if (own === undefined) response.once('close', () => add(-taken.get(response)!));
  taken.set(response, bytes);
  add(more);
}

/**
 * Reserves memory for a chunk, whatever code writes it, and returns whether there was enough. If not, the client gets
 * 503, or, after the headers, the end of its connection. Nothing is thrown: the writer may be a stream, where nobody
 * would catch an error.
 */
export function reservesMemoryFor(response: Response, chunk: unknown): boolean {
  if (response.req.method === 'HEAD' || inPieces.has(response)) return true;
  const added = bytesIn(chunk);
  // The end of what was written adds nothing. With the bytes of its chunks' frames it may be more than was reserved.
  if (added === 0) return true;
  // Small writes add up where their source doesn't wait for 'drain'.
  const bytes = response.writableLength + added;
  if (bytes <= PIECE_BYTES && !taken.has(response)) return true;
  try {
    reserveMemory(response, bytes);
    return true;
  } catch (error) {
    // The source of the answer continues to write to the destroyed response.
    response.on('error', () => undefined);
    if (response.headersSent) response.destroy();
    else sendError(response, error as ApiError, response.req.id);
    return false;
  }
}

function bytesIn(chunk: unknown): number {
  if (typeof chunk === 'string')
    return BYTES_PER_UNIT * chunk.length <= PIECE_BYTES ? chunk.length : Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.length : 0;
}

/** For an answer whose source waits until what it has given was sent. So few of them may be sent at once that they aren't counted. */
export const waitsForReader = (response: Response): void => void inPieces.add(response);

/** Sends an answer in pieces, each after the one before has left: the bytes sent show whether the client reads. */
export function sendPieces(response: Response, bytes: Buffer): void {
  let at = 0;
  inPieces.add(response);
  endsByItself(response);
  const sendMore = () => {
    while (at + PIECE_BYTES < bytes.length) {
      const piece = bytes.subarray(at, (at += PIECE_BYTES));
      if (!response.write(piece)) return void response.once('drain', sendMore);
    }
    response.end(bytes.subarray(at));
  };
  sendMore();
}
