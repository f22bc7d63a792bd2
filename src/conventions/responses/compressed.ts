import compression from 'compression';
import type { Request } from 'express';

/** Below that a compressed body is hardly any smaller. */
const COMPRESS_FROM_BYTES = 1024;

/** Compresses for clients that accept it. */
export const compressed = () => compression({ threshold: COMPRESS_FROM_BYTES });

/** Whether a JSON body of this length leaves compressed. */
export function isCompressed(request: Request, length: number): boolean {
  return length >= COMPRESS_FROM_BYTES && request.acceptsEncodings('br', 'gzip', 'deflate') !== false;
}
