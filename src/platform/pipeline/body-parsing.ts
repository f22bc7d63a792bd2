import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import { MAX_INPUT_VALUES, MAX_INPUTS } from '../input/input-limits';
import { validationError } from '../errors/api-error';
import { bodyError } from '../errors/to-api-error';
import { isXml, kindOfType } from './media-types';
import { requireBoundedJson, requireBoundedValue } from './bounded-json';
import { MAX_PARAMETERS, parseQuery } from './query-string';
import type { Declared } from '../input/declared-types';
import { parseXml } from './xml-body';

/** The XML bodies that may wait to be parsed. Beyond it, the network with most of them gets 503. */
const MAX_PARSING = 1_000;

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

/** @throws {ApiError} VALIDATION_ERROR */
export function parseBody(request: Request, bytes: Buffer, type: string, rules: BodyRules): unknown {
  if (rules.takesXml && isXml(type)) return parseXmlBody(request, bytes, rules);
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

/** The number of values that a body may have: undefined for the usual one. */
export const maxValuesOf = ({ inputs, values }: BodyRules) => (inputs ? MAX_INPUT_VALUES : values);

/** Two at a time, as each takes several turns of the event loop: all that are under way would work in each of them. */
const parsing = new Semaphore(2, MAX_PARSING);

async function parseXmlBody({ ip, work }: Request, bytes: Buffer, rules: BodyRules): Promise<unknown> {
  requireUtf8(bytes);
  const parsed = () => parseXml(bytes.toString(), rules.declared, maxValuesOf(rules));
  const value = await parsing.run(parsed, work?.signal, queueKeysOf(ip));
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
