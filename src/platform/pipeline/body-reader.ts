import { isUtf8 } from 'node:buffer';
import type { Request, Response } from 'express';
import { MAX_INPUT_VALUES, MAX_INPUTS } from '../input/input-limits';
import { isApiError, validationError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { GrowingBuffer } from '../http/growing-buffer';
import { onBodyEnd } from '../http/body-end';
import { bodyTooLarge } from './body-limit';
import { BodyMemory, holdUntilAnswered } from './body-memory';
import { isXml, kindOfType, typeOf, unsupportedMediaType, usualTypes, withXml } from './media-types';
import { requireBoundedJson, requireBoundedValue } from './bounded-json';
import { MAX_PARAMETERS, parseQuery } from './query-string';
import { type BodyBound, type Decompress, decompressedInTurn, decompressorOf } from './decompression';
import type { Declared } from '../input/declared-types';
import { parseXml } from './xml-body';

/** The rules for the body of a route. */
export interface BodyRules {
  /** The limit in bytes, instead of the general one. */
  limit?: number;
  /** The number of values in JSON, or of fields in a form. */
  values?: number;
  /** The accepted media types, instead of JSON. */
  types?: string[];
  /** Whether XML is accepted beside them. Default: false */
  takesXml?: boolean;
  /** What the handler takes: an element of XML needn't say its type then. */
  declared?: Declared;
  /** Whether JSON may be a list. Default: false */
  mayBeList?: boolean;
  /** The attributes of the body that are ignored, whatever their values. Default: none */
  ignored?: string[];
  /** True if the list has the inputs of `@CreatesEach()`, whose number is limited. Default: false */
  inputs?: boolean;
  /** The handler's type of a body that is neither JSON nor a form. Default: text for `text/*`, otherwise bytes */
  as?: 'text' | 'bytes';
}

export type BodyReader = (request: Request, response: Response, rules?: BodyRules) => Promise<unknown>;

/**
 * Reads the body of a request. By default it must be a JSON object, or empty. Called after the guards of
 * authentication, so that 401 and 403 come before 400, and before a byte of the body is read. The bytes are kept in
 * `request.rawBody`.
 * @param general the general limit in bytes, before and after decompression
 */
export function bodyReader(general: number): BodyReader {
  return async (request, response, rules = {}) => {
    if (!hasBody(request)) return isStructured(rules) ? {} : undefined;
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
    return parse(bytes, type, rules);
  };
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

function parse(bytes: Buffer, type: string, rules: BodyRules): unknown {
  if (rules.takesXml && isXml(type)) return parseXmlBody(bytes, rules);
  const usual = kindOfType(type);
  const kind = usual === 'text' || usual === 'bytes' ? (rules.as ?? usual) : usual;
  if (kind === 'bytes') return bytes;
  requireUtf8(bytes);
  if (kind === 'text') return bytes.toString();
  if (kind === 'form') return parseQuery(bytes.toString(), { field: 'body', max: rules.values ?? MAX_PARAMETERS });
  const lines = kind === 'lines';
  requireBoundedJson(bytes, maxValuesOf(rules));
  const value = lines ? parseLines(bytes.toString()) : parseJson(bytes.toString());
  requireShape(value, rules);
  return value;
}

const maxValuesOf = ({ inputs, values }: BodyRules) => (inputs ? MAX_INPUT_VALUES : values);

async function parseXmlBody(bytes: Buffer, rules: BodyRules): Promise<unknown> {
  requireUtf8(bytes);
  const value = await parseXml(bytes.toString(), rules.declared, maxValuesOf(rules));
  requireShape(value, rules);
  return value;
}

/** Decoding would replace malformed bytes, and store text that nobody sent. */
function requireUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw bodyError('encoding', 'must be well-formed UTF-8');
}

/** Checks the type of a body, whichever parser has made it. */
export function requireShape(value: unknown, { mayBeList = false, inputs, values }: BodyRules): void {
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null || (isList && !mayBeList)) {
    throw bodyError('type', mayBeList ? 'must be a JSON object or a list' : 'must be a JSON object');
  }
  if (!inputs) return;
  if (!isList) return requireBoundedValue(value, values);
  if (value.length < 1 || value.length > MAX_INPUTS) throw bodyError('size', `must hold 1 to ${MAX_INPUTS} inputs`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may contain a password.
    throw bodyError('json', 'must be valid JSON');
  }
}

/** One value on each line. The last line may end with a line break. */
function parseLines(text: string): unknown[] {
  // Further lines aren't read: there are too many already.
  const lines = text.replace(/\n$/, '').split('\n', MAX_INPUTS + 1);
  return lines.map((line, position) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      throw validationError([{ field: String(position), rule: 'json', message: 'must be valid JSON, on one line' }]);
    }
  });
}
