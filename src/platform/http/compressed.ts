import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request } from 'express';
import { kibibytes } from '../units';

/** The least size in bytes: a smaller body hardly gets smaller. */
const COMPRESS_FROM_BYTES = 1024;
/**
 * The greatest length of `Accept-Encoding`, many times what clients send. With a longer one the body isn't compressed.
 */
const MAX_ACCEPTED = 512;
/** 4 of 11: higher qualities cost more time than they save in transit. */
const BROTLI_QUALITY = 4;
const USUAL_BROTLI = { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
/** For files that are compressed once. The highest qualities take seconds for a megabyte. */
const GOOD_BROTLI_QUALITY = 9;

export enum Encoding {
  BROTLI = 'br',
  GZIP = 'gzip',
}

/** Up to this size, in bytes, a thread of the pool costs three times as much as the compression: 75 µs instead of 25. */
const SMALL_BYTES = kibibytes(8);
/** Above this size, in bytes, speed counts more than size: libuv has four threads, and they hash passwords as well. */
const LARGE_BYTES = kibibytes(256);
const FASTEST = 1;

const brotli = promisify<string | Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<string | Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);

/**
 * The encoding of a body of `length` bytes; undefined for identity. Chosen here instead of in middleware, which would
 * wrap the methods of all responses, while most bodies are too short to compress.
 */
export function encodingFor(request: Request, length: number): Encoding | undefined {
  const accepted = request.headers['accept-encoding'];
  if (length < COMPRESS_FROM_BYTES || accepted === undefined || accepted.length > MAX_ACCEPTED) return undefined;
  const encoding = request.acceptsEncodings(Encoding.BROTLI, Encoding.GZIP, 'identity');
  return encoding === Encoding.BROTLI || encoding === Encoding.GZIP ? encoding : undefined;
}

/** Whether a body of unknown length may be compressed by gzip while it is sent. */
export function acceptsGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined || accepted.length > MAX_ACCEPTED) return false;
  return request.acceptsEncodings(Encoding.GZIP, 'identity') === Encoding.GZIP;
}

/** Compresses what is sent as it comes. What was written leaves at once, so that the client sees each piece. */
export const gzipStream = (): zlib.Gzip => zlib.createGzip({ level: FASTEST, flush: zlib.constants.Z_SYNC_FLUSH });

/**
 * Compresses a small body at once; undefined for a larger one. On Node 24 a request whose body is compressed in the thread
 * pool stays in memory until the next major collection (D-302).
 */
export function compressSmall(body: string | Buffer, encoding: Encoding, length: number): Buffer | undefined {
  if (length > SMALL_BYTES) return undefined;
  return encoding === Encoding.GZIP ? zlib.gzipSync(body) : zlib.brotliCompressSync(body, { params: USUAL_BROTLI });
}

/** Compresses in the thread pool, off the event loop. @param length of the body, in bytes */
export function compress(body: string | Buffer, encoding: Encoding, length: number): Promise<Buffer> {
  const large = length > LARGE_BYTES;
  if (encoding === Encoding.GZIP) return gzip(body, large ? { level: FASTEST, chunkSize: LARGE_BYTES } : {});
  if (!large) return brotli(body, { params: USUAL_BROTLI });
  return brotli(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: FASTEST }, chunkSize: LARGE_BYTES });
}

/** Compresses as well as possible, for files that are compressed once and sent to many. */
export function compressWell(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === Encoding.GZIP) return gzip(body, { level: zlib.constants.Z_BEST_COMPRESSION });
  return brotli(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: GOOD_BROTLI_QUALITY } });
}
