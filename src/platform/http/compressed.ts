import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request } from 'express';

/** Below that a compressed body is hardly any smaller. */
const COMPRESS_FROM_BYTES = 1024;
/** Characters of `Accept-Encoding`, many times what a client has to say; one that says more gets the body as it is. */
const MAX_ACCEPTED = 512;
/** Of 11: what the higher ones save is not worth their time on the way to a caller. */
const BROTLI_QUALITY = 4;
/** For what is compressed once: the highest ones take seconds for a megabyte. */
const GOOD_BROTLI_QUALITY = 9;

export enum Encoding {
  BROTLI = 'br',
  GZIP = 'gzip',
}

/** Bytes from which on speed counts more than size: libuv has four threads, and they hash passwords as well. */
const LARGE = 256 * 1024;
const FASTEST = 1;

const brotli = promisify<string | Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<string | Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);

/**
 * How a body of so many bytes leaves; undefined when it does as it is. Here, and not in middleware around every response:
 * that wraps the methods of all of them, and most are too short.
 */
export function encodingFor(request: Request, length: number): Encoding | undefined {
  const accepted = request.headers['accept-encoding'];
  if (length < COMPRESS_FROM_BYTES || accepted === undefined || accepted.length > MAX_ACCEPTED) return undefined;
  const encoding = request.acceptsEncodings(Encoding.BROTLI, Encoding.GZIP, 'identity');
  return encoding === Encoding.BROTLI || encoding === Encoding.GZIP ? encoding : undefined;
}

/** Off the event loop. */
export function compress(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
  const large = body.length > LARGE;
  if (encoding === Encoding.GZIP) return gzip(body, large ? { level: FASTEST, chunkSize: LARGE } : {});
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: large ? FASTEST : BROTLI_QUALITY };
  return brotli(body, large ? { params, chunkSize: LARGE } : { params });
}

/** As small as it gets, for what is compressed once and sent to many. */
export function compressWell(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === Encoding.GZIP) return gzip(body, { level: zlib.constants.Z_BEST_COMPRESSION });
  return brotli(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: GOOD_BROTLI_QUALITY } });
}
