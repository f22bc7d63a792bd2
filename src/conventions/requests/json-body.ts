import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { bodyTooLarge } from './body-limit';
import { requireModest } from './modest-json';

const MEDIA_TYPES = ['application/json'];
const PATCH_MEDIA_TYPES = [...MEDIA_TYPES, 'application/merge-patch+json'];
const DECOMPRESSORS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export type JsonObject = Record<string, unknown>;

interface Bound {
  /** Bytes. */
  limit: number;
  tooLarge: () => ApiError;
}

/** @param ownLimit of the route, in bytes */
export type BodyReader = (request: Request, response: Response, ownLimit?: number) => Promise<JsonObject>;

/**
 * Reads a JSON object, or nothing, from a request. It is called once it's known that the caller may send one, so that
 * 401 and 403 come before 400 and before a byte of the body is read.
 * @param general bytes, before decompression and after it
 */
export function jsonBodyReader(general: number): BodyReader {
  return async (request, response, ownLimit = general) => {
    if (!hasBody(request)) return {};
    requireMediaType(request);
    const limit = Math.min(general, ownLimit);
    const tooLarge = () => bodyTooLarge(limit < general ? limit : undefined);
    // Before "100 Continue" as well: the client need not send what will be refused.
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
    const body = decompressed(request);
    if (awaitsContinue(request)) response.writeContinue();
    return parse(await readBytes(request, body, { limit, tooLarge }));
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
async function readBytes(request: Request, body: Readable, { limit, tooLarge }: Bound): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge();
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
  requireModest(bytes);
  const value = parseJson(bytes.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyError('type', 'must be a JSON object');
  }
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
