import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request } from 'express';

/** Below that a compressed body is hardly any smaller. */
const COMPRESS_FROM_BYTES = 1024;
/** Of 11: what the higher ones save is not worth their time on the way to a caller. */
const BROTLI_QUALITY = 4;

export enum Encoding {
  BROTLI = 'br',
  GZIP = 'gzip',
}

const brotli = promisify<string, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<string, Buffer>(zlib.gzip);

/**
 * How a body of so many bytes leaves; undefined when it does as it is. Here, and not in middleware around every response:
 * that wraps the methods of all of them, and most are too short.
 */
export function encodingFor(request: Request, length: number): Encoding | undefined {
  if (length < COMPRESS_FROM_BYTES || request.headers['accept-encoding'] === undefined) return undefined;
  const encoding = request.acceptsEncodings(Encoding.BROTLI, Encoding.GZIP, 'identity');
  return encoding === Encoding.BROTLI || encoding === Encoding.GZIP ? encoding : undefined;
}

/** Off the event loop. */
export function compress(text: string, encoding: Encoding): Promise<Buffer> {
  if (encoding === Encoding.GZIP) return gzip(text);
  return brotli(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
