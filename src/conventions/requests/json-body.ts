import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';

/** Deeper than any body of this API; the libraries behind recurse, and a body of brackets would exhaust their stack. */
const MAX_DEPTH = 32;
/** More than any body of this API holds; a mebibyte of unknown attributes would cost seconds, and megabytes to answer. */
const MAX_VALUES = 2_000;
const MEDIA_TYPES = ['application/json'];
const PATCH_MEDIA_TYPES = [...MEDIA_TYPES, 'application/merge-patch+json'];
const DECOMPRESSORS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export type JsonObject = Record<string, unknown>;
export type BodyReader = (request: Request, response: Response) => Promise<JsonObject>;

/**
 * Reads a JSON object, or nothing, from a request. It is called once it's known that the caller may send one, so that
 * 401 and 403 come before 400 and before a byte of the body is read.
 * @param limit bytes, before decompression and after it
 */
export function jsonBodyReader(limit: number): BodyReader {
  return async (request, response) => {
    if (!hasBody(request)) return {};
    requireMediaType(request);
    // Before "100 Continue" as well: the client need not send what will be refused.
    if (Number(request.headers['content-length'] ?? 0) > limit) throw new ApiError('PAYLOAD_TOO_LARGE');
    const body = decompressed(request);
    if (awaitsContinue(request)) response.writeContinue();
    return parse(await readBytes(request, body, limit));
  };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireMediaType(request: Request): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (request.is(mediaTypes(request.method)) && /^utf-?8$/i.test(charset)) return;
  throw unsupportedMediaType(request.method);
}

function mediaTypes(method: string): string[] {
  return method === 'PATCH' ? PATCH_MEDIA_TYPES : MEDIA_TYPES;
}

/** 415, with the media types that a request of this method may have. */
export function unsupportedMediaType(method: string): ApiError {
  const types = mediaTypes(method);
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', {
    details: `Send ${types.join(' or ')} in UTF-8`,
    headers: { [method === 'PATCH' ? 'Accept-Patch' : 'Accept']: types.join(', ') },
  });
}

/** The body itself, or what comes out of its compression. */
function decompressed(request: Request): Readable {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const decompressor = DECOMPRESSORS.get(encoding)?.();
  if (!decompressor) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { details: 'Send the body uncompressed or as gzip, deflate or br' });
  }
  // pipe() doesn't tell that the request was cut off.
  request.once('error', (error) => decompressor.destroy(error));
  return request.pipe(decompressor);
}

/** HTTP/1.0 knows no interim answer. */
function awaitsContinue({ headers, httpVersion }: Request): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0';
}

/** Not body-parser, which waits for the end of a body that it refuses. */
async function readBytes(request: Request, body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new ApiError('PAYLOAD_TOO_LARGE');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (request.errored || body === request) throw bodyError('length', 'must arrive whole');
    throw bodyError('compression', 'must be compressed as Content-Encoding says');
  } finally {
    // What still comes is let pass, so that the client gets to read the answer.
    request.unpipe().resume();
    if (body !== request) body.destroy();
  }
}

function parse(bytes: Buffer): JsonObject {
  // Decoding would replace what is malformed, and store something that nobody sent.
  if (!isUtf8(bytes)) throw bodyError('encoding', 'must be well-formed UTF-8');
  const value = parseJson(bytes.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyError('type', 'must be a JSON object');
  }
  requireModest(value);
  return value as JsonObject;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold a password.
    throw bodyError('json', 'must be valid JSON');
  }
}

function requireModest(root: object): void {
  let level: object[] = [root];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw bodyError('depth', `must not nest deeper than ${MAX_DEPTH} levels`);
    const children = level.flatMap((node) => Object.values(node) as unknown[]);
    values += children.length;
    if (values > MAX_VALUES) throw bodyError('size', `must not hold more than ${MAX_VALUES} values`);
    level = children.filter((child) => typeof child === 'object' && child !== null);
  }
}
