import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { lineKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';

export type Unpack = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

/** How large a body may be. */
export interface Bound {
  /** Bytes. */
  limit: number;
  tooLarge: () => ApiError;
}

const UNPACKERS = new Map<string, Unpack>([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
]);
/** Bytes from which on a body has its turn before it is parsed, as a compressed one has in any case. */
const LARGE = 64 * 1024;
/** Bodies that may wait for their turn; of more, the latest of the network that has most is 503. */
const MAX_WAITING = 1_000;

/**
 * Large bodies, two at a time: all that are unpacked at once are in memory together, however few bytes they came in, and end
 * together, so that one turn of the event loop would parse all of them.
 */
export const unpacking = new Semaphore(2, MAX_WAITING);

/**
 * What unpacks the body, if anything does. Not brotli: a few bytes of it have its decoder take 16 MiB before it says anything.
 * @throws {ApiError} UNSUPPORTED_MEDIA_TYPE
 */
export function unpackerOf({ headers }: Request): Unpack | undefined {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return undefined;
  const unpack = UNPACKERS.get(encoding);
  if (!unpack)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { details: 'Send the body uncompressed or as gzip or deflate' });
  return unpack;
}

/**
 * The body as it was before it was compressed, when it is its turn to be parsed.
 * @param bytes all of it: of a body whose end is kept back only what was sent takes memory
 */
export function unpackedInTurn(
  { ip, work }: Request,
  bytes: Buffer,
  unpack: Unpack | undefined,
  bound: Bound,
): Promise<Buffer> | Buffer {
  if (!unpack && bytes.length <= LARGE) return bytes;
  const prepare = async () => {
    await turnOfTheLoop();
    return unpack ? unpacked(bytes, unpack, bound) : bytes;
  };
  return unpacking.run(prepare, work?.signal, lineKeysOf(ip));
}

async function unpacked(bytes: Buffer, unpack: Unpack, { limit, tooLarge }: Bound): Promise<Buffer> {
  try {
    return await unpack(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw bodyError('compression', 'must be compressed as Content-Encoding says');
  }
}
