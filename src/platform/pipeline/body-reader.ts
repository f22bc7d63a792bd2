import { isUtf8 } from 'node:buffer';
import type { Request, Response } from 'express';
import { isApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { GrowingBuffer } from '../http/growing-buffer';
import { whenOver } from '../http/when-over';
import { bodyTooLarge } from './body-limit';
import { BodyRoom, holdUntilAnswered } from './body-room';
import { kindOfType, typeOf, unsupportedMediaType, usualTypes } from './media-types';
import { requireModest } from './modest-json';
import { MAX_PARAMETERS, parseQuery } from './query-string';
import { type Bound, type Unpack, unpackedInTurn, unpackerOf } from './unpacked';

/** What the body of a route may be. */
export interface BodyRules {
  /** Bytes, instead of the general limit. */
  limit?: number;
  /** Values that JSON may hold, or fields that a form may have. */
  values?: number;
  /** Media types, instead of JSON. */
  types?: string[];
  /** Whether JSON may be a list. Default: false */
  mayBeList?: boolean;
  /** What the handler takes that is neither JSON nor a form. Default: text of `text/*`, bytes of all else */
  as?: 'text' | 'bytes';
}

export type BodyReader = (request: Request, response: Response, rules?: BodyRules) => Promise<unknown>;

/**
 * Reads the body of a request, by default a JSON object, or nothing. It is called once it's known that the caller may send
 * one, so that 401 and 403 come before 400 and before a byte of the body is read. `request.rawBody` is what it was made of.
 * @param general bytes, before decompression and after it
 */
export function bodyReader(general: number): BodyReader {
  return async (request, response, rules = {}) => {
    if (!hasBody(request)) return isStructured(rules) ? {} : undefined;
    const type = typeOf(request, rules.types ?? usualTypes(request.method));
    if (type === undefined) throw unsupportedMediaType(request.method, rules.types);
    const { limit = general } = rules;
    const tooLarge = () => bodyTooLarge(rules.limit);
    // Before "100 Continue" as well: the client need not send what will be refused.
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
    const unpack = unpackerOf(request);
    if (awaitsContinue(request)) response.writeContinue();
    const bytes = await readBody(request, unpack, { limit, tooLarge });
    request.rawBody = bytes;
    return parse(bytes, type, rules);
  };
}

/** Whether nothing at all stands for an object without attributes. */
function isStructured({ types }: BodyRules): boolean {
  return !types || types.some((type) => ['json', 'form'].includes(kindOfType(type)));
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** HTTP/1.0 knows no interim answer. */
function awaitsContinue({ headers, httpVersion }: Request): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0';
}

/** What was sent takes room until it is unpacked, and what it was then until the request is answered. */
async function readBody(request: Request, unpack: Unpack | undefined, bound: Bound): Promise<Buffer> {
  const room = BodyRoom.onTheWay(request.ip);
  try {
    const sent = await readBytes(request, bound, room);
    const bytes = await unpackedInTurn(request, sent, unpack, bound);
    holdUntilAnswered(request, bytes.length);
    return bytes;
  } finally {
    room.giveBack();
  }
}

/** Not body-parser, which waits for the end of a body that it refuses. */
async function readBytes(request: Request, { limit, tooLarge }: Bound, room: BodyRoom): Promise<Buffer> {
  const bytes = new GrowingBuffer();
  try {
    await eachChunk(request, (chunk) => {
      const size = bytes.size + chunk.length;
      if (size > limit) throw tooLarge();
      room.hold(size);
      bytes.add(chunk);
    });
    return bytes.whole();
  } catch (error) {
    throw isApiError(error) ? error : bodyError('length', 'must arrive whole');
  }
}

/**
 * Until the body is whole. Not by the request's iterator, which waits for ever where the request was answered meanwhile.
 * @throws what `take` does, or when the rest of the body does not come
 */
function eachChunk(request: Request, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      request.off('data', receive);
      if (error) reject(error);
      else resolve();
    };
    const receive = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        end(error as Error);
      }
    };
    request.on('data', receive);
    whenOver(request, () => end(request.readableEnded ? undefined : new Error('The request is over')));
    // What still comes after the end is let pass, so that the client gets to read the answer.
    request.resume();
  });
}

function parse(bytes: Buffer, type: string, rules: BodyRules): unknown {
  const usual = kindOfType(type);
  const kind = usual === 'text' || usual === 'bytes' ? (rules.as ?? usual) : usual;
  if (kind === 'bytes') return bytes;
  // Decoding would replace what is malformed, and store something that nobody sent.
  if (!isUtf8(bytes)) throw bodyError('encoding', 'must be well-formed UTF-8');
  if (kind === 'text') return bytes.toString();
  if (kind === 'form') return parseQuery(bytes.toString(), { field: 'body', max: rules.values ?? MAX_PARAMETERS });
  requireModest(bytes, rules.values);
  const value = parseJson(bytes.toString());
  requireShape(value, rules);
  return value;
}

/** Whoever parsed it. */
export function requireShape(value: unknown, { mayBeList = false }: BodyRules): void {
  if (typeof value === 'object' && value !== null && (mayBeList || !Array.isArray(value))) return;
  throw bodyError('type', mayBeList ? 'must be a JSON object or a list' : 'must be a JSON object');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold a password.
    throw bodyError('json', 'must be valid JSON');
  }
}
