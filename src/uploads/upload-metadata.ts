import { Metadata } from '@tus/server';
import { validationError } from '../platform';
import { hasLength, hasTooManyMarks, marksMessage, normalise } from '../platform/features';

const FIELD = 'Upload-Metadata';
const MAX_METADATA = 4_096;
const MAX_FILENAME = 255;
export const UNKNOWN_TYPE = 'application/octet-stream';
/**
 * Media types that can't be recognised by bytes, and that browsers don't run. For these the client's claim is trusted.
 */
const BELIEVED = new Set([
  ...['text/plain', 'text/markdown', 'text/csv', 'text/tab-separated-values'],
  ...['application/json', 'application/x-ndjson', 'application/geo+json', 'application/yaml'],
]);
/**
 * Control characters, and characters that change the direction of text: with them `exe.txt` may look like `txt.exe`.
 */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const UTF_8 = /^charset="?utf-8"?$/;

/** What a client states about a file. */
export interface Claims {
  filename: string | null;
  media_type: string;
  /** The header itself. */
  metadata: string | null;
}

/** @throws {ApiError} VALIDATION_ERROR */
export function claimsOf(header: string | undefined): Claims {
  if (header === undefined) return { filename: null, media_type: UNKNOWN_TYPE, metadata: null };
  if (header.length > MAX_METADATA) throw wrong('length', `must be at most ${MAX_METADATA} characters`);
  const { filename, name, filetype, type } = parse(header);
  return {
    filename: filenameOf(filename ?? name ?? ''),
    media_type: mediaTypeOf(filetype ?? type ?? ''),
    metadata: header,
  };
}

function parse(header: string): Record<string, string | null | undefined> {
  try {
    return Metadata.parse(header);
  } catch {
    throw wrong('metadata', 'must be different names, separated by commas, each with a blank and a value in Base64');
  }
}

/** The last part of a path: folders on the client's disk are private. */
function filenameOf(text: string): string | null {
  if (UNSEEN.test(text)) throw wrong('characters', 'must not hold control characters in filename');
  // The name wasn't UTF-8.
  if (text.includes('\ufffd')) throw wrong('encoding', 'must have a filename in UTF-8');
  const filename = normalise(text.split(/[/\\]/).at(-1)!, { max: MAX_FILENAME });
  if (!hasLength(filename, 0, MAX_FILENAME))
    throw wrong('length', `must have a filename of at most ${MAX_FILENAME} characters`);
  if (hasTooManyMarks(filename)) throw wrong('marks', marksMessage);
  return /^\.{0,2}$/.test(filename) ? null : filename;
}

/** Only the parameter charset=utf-8 is kept. */
function mediaTypeOf(text: string): string {
  const [type, ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!BELIEVED.has(type)) return UNKNOWN_TYPE;
  const inUtf8 = type.startsWith('text/') && parameters.some((parameter) => UTF_8.test(parameter));
  return inUtf8 ? `${type}; charset=utf-8` : type;
}

function wrong(rule: string, message: string) {
  return validationError([{ field: FIELD, rule, message }]);
}
