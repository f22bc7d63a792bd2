import { isUtf8 } from 'node:buffer';
import { raw } from 'express';
import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';

/** Deeper than any body of this API; the libraries behind recurse, and a body of brackets would exhaust their stack. */
const MAX_DEPTH = 32;
const MEDIA_TYPES = ['application/json'];
const PATCH_MEDIA_TYPES = [...MEDIA_TYPES, 'application/merge-patch+json'];

export type JsonObject = Record<string, unknown>;
export type BodyReader = (request: Request, response: Response) => Promise<JsonObject>;

/**
 * Reads a JSON object, or nothing, from a request. It is called once it's known that the caller may send one, so that
 * 401 and 403 come before 400 and before a byte of the body is read.
 * @param limit bytes, after decompression
 */
export function jsonBodyReader(limit: number): BodyReader {
  const read = raw({ type: () => true, limit });
  return async (request, response) => {
    if (!hasBody(request)) return {};
    requireMediaType(request);
    const declared = Number(request.headers['content-length'] ?? 0);
    // Before "100 Continue" as well: the client need not send what will be refused.
    if (declared > limit) throw new ApiError('PAYLOAD_TOO_LARGE');
    if (request.headers.expect !== undefined) response.writeContinue();
    await new Promise<void>((resolve, reject) =>
      read(request, response, (error?: Error) => (error ? reject(error) : resolve())),
    );
    return parse(request.body as Buffer);
  };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireMediaType(request: Request): void {
  const allowed = request.method === 'PATCH' ? PATCH_MEDIA_TYPES : MEDIA_TYPES;
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!request.is(allowed) || !/^utf-?8$/i.test(charset)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { details: `Send ${allowed.join(' or ')} in UTF-8` });
  }
}

function parse(bytes: Buffer): JsonObject {
  // Decoding would replace what is malformed, and store something that nobody sent.
  if (!isUtf8(bytes)) throw bodyError('encoding', 'must be well-formed UTF-8');
  const value = parseJson(bytes.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyError('type', 'must be a JSON object');
  }
  requireShallow(value);
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

function requireShallow(root: object): void {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw bodyError('depth', `must not nest deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((node) =>
      Object.values(node).filter((child): child is object => typeof child === 'object' && child !== null),
    );
  }
}
