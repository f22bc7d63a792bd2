import type { Request, Response } from 'express';
import { isApiError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { GrowingBuffer } from '../http/growing-buffer';
import { onBodyEnd } from '../http/body-end';
import { bodyTooLarge } from './body-limit';
import { BodyMemory, holdUntilAnswered } from './body-memory';
import { isXml, kindOfType, typeOf, unsupportedMediaType, usualTypes, withXml } from './media-types';
import { type BodyBound, type Decompress, decompressedInTurn, decompressorOf } from './decompression';
import { type BodyRules, parseBody, requireShape } from './body-parsing';

export type BodyReader = (request: Request, response: Response, rules?: BodyRules) => Promise<unknown>;

/**
 * Reads the body of a request. By default it must be a JSON object, or empty. Called after the guards of
 * authentication, so that 401 and 403 come before 400, and before a byte of the body is read. The bytes are kept in
 * `request.rawBody`.
 * @param general the general limit in bytes, before and after decompression
 */
export function bodyReader(general: number): BodyReader {
  return async (request, response, rules = {}) => {
    if (!hasBody(request)) return emptyBody(request, rules);
    const usual = rules.types ?? usualTypes(request.method);
    const types = rules.takesXml ? withXml(usual) : usual;
    const type = typeOf(request, types);
    if (type === undefined) throw unsupportedMediaType(request.method, types);
    const { limit = general } = rules;
    const tooLarge = () => bodyTooLarge(rules.limit);
    // Checked before "100 Continue": the client needn't send a body that is refused.
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
    const unpack = decompressorOf(request);
    if (awaitsContinue(request)) response.writeContinue();
    const bytes = await readBody(request, unpack, { limit, tooLarge, takesTurn: isXml(type) });
    request.rawBody = bytes;
    return parseBody(request, bytes, type, rules);
  };
}

function emptyBody({ headers }: Request, rules: BodyRules): object | undefined {
  // No line is no input.
  const [type] = (headers['content-type'] ?? '').split(';', 1);
  if (rules.inputs && kindOfType(type.trim().toLowerCase()) === 'lines') requireShape([], rules);
  return isStructured(rules) ? {} : undefined;
}

/** True if an empty body counts as an object without attributes. */
function isStructured({ types }: BodyRules): boolean {
  return !types || types.some((type) => ['json', 'form'].includes(kindOfType(type)));
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** HTTP/1.0 has no interim responses. */
function awaitsContinue({ headers, httpVersion }: Request): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0';
}

/** The sent bytes take memory until they are decompressed, and the decompressed ones until the request is answered. */
async function readBody(request: Request, unpack: Decompress | undefined, bound: BodyBound): Promise<Buffer> {
  const room = BodyMemory.onTheWay(request.ip);
  try {
    const sent = await readBytes(request, bound, room);
    const turn = request.turns?.again(request);
    if (turn) await turn;
    // Last, so that no more costly bodies than that are parsed in one turn of the event loop.
    const bytes = await decompressedInTurn(request, sent, unpack, bound);
    holdUntilAnswered(request, bytes.length);
    return bytes;
  } finally {
    room.giveBack();
  }
}

/** Replaces body-parser, which reads a body to its end before refusing it. */
async function readBytes(request: Request, { limit, tooLarge }: BodyBound, room: BodyMemory): Promise<Buffer> {
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
 * Passes the chunks of the body on until it is complete. The request's async iterator isn't used: it waits for ever if
 * the request is answered meanwhile.
 * @throws the error of `take`, or an error if the rest of the body doesn't arrive
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
    onBodyEnd(request, () => end(request.readableEnded ? undefined : new Error('The request is over')));
    // Bytes that arrive later are discarded, so that the client can read the answer.
    request.resume();
  });
}
