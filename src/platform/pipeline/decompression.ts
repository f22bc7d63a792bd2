import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import { kibibytes } from '../units';

export type Decompress = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

/** The limit of a body. */
export interface BodyBound {
  limit: number;
  tooLarge: () => ApiError;
  /** True for a body that waits for its turn, however short it is. Default: false */
  takesTurn?: boolean;
}

const DECOMPRESSORS = new Map<string, Decompress>([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
]);
/** Larger bodies, in bytes, and all compressed ones wait for their turn to be parsed. */
const LARGE_BYTES = kibibytes(4);
/** So do smaller ones with more values, or fields of a form: to validate 200 values may take milliseconds. */
const MANY_VALUES = 50;
/** 1 for each byte that separates values: every byte of a body is looked up here. */
const SEPARATORS = new Uint8Array(256);
for (const byte of Buffer.from(',[{&')) SEPARATORS[byte] = 1;
/** The number of bodies that may wait. Beyond it, the network with most of them gets 503. */
const MAX_WAITING = 1_000;

/**
 * Two costly bodies in a turn of the event loop. Those that come at once would be parsed and validated in the same turn,
 * and all else would wait for them at each of its steps.
 */
export const preparing = new Semaphore(2, MAX_WAITING);
/**
 * The same for compressed bodies, which wait for a thread as well. Those that are decompressed at once are in memory
 * together, however small they were.
 */
export const decompressing = new Semaphore(2, MAX_WAITING);

/**
 * The function that decompresses the body; undefined if it isn't compressed. Brotli isn't supported: its decoder
 * allocates 16 MiB for a few bytes.
 * @throws {ApiError} UNSUPPORTED_MEDIA_TYPE
 */
export function decompressorOf({ headers }: Request): Decompress | undefined {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return undefined;
  const unpack = DECOMPRESSORS.get(encoding);
  if (!unpack)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { details: 'Send the body uncompressed or as gzip or deflate' });
  return unpack;
}

/**
 * Decompresses a body when it has its turn to be parsed.
 * @param bytes the complete body: if a client keeps the end back, only the sent bytes take memory
 */
export function decompressedInTurn(
  { ip, work }: Request,
  bytes: Buffer,
  unpack: Decompress | undefined,
  bound: BodyBound,
): Promise<Buffer> | Buffer {
  if (!unpack && !bound.takesTurn && !isCostly(bytes)) return bytes;
  const prepare = async (waitedLong: boolean) => {
    if (waitedLong && work) work.waitedLong = true;
    await turnOfTheLoop();
    return unpack ? decompressed(bytes, unpack, bound) : bytes;
  };
  const lane = unpack ? decompressing : preparing;
  return lane.run(prepare, work?.signal, queueKeysOf(ip));
}

/** Counts separators in texts too: what only seems to be costly waits for a turn of the event loop. */
function isCostly(bytes: Buffer): boolean {
  if (bytes.length > LARGE_BYTES) return true;
  let values = 0;
  // There is at most a value for each byte.
  if (bytes.length > MANY_VALUES) for (let at = 0; at < bytes.length; at++) values += SEPARATORS[bytes[at]];
  return values > MANY_VALUES;
}

async function decompressed(bytes: Buffer, unpack: Decompress, { limit, tooLarge }: BodyBound): Promise<Buffer> {
  try {
    return await unpack(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw bodyError('compression', 'must be compressed as Content-Encoding says');
  }
}
